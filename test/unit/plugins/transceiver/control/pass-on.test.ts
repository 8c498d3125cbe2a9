/** The public side: who is asked, how often, what comes back, and who is never dialled. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import type { Address } from '../../../../../core/index.ts'
import { SealedCodec } from '../../../../../plugins/routing-codec/sealed/codec.ts'
import { ControlKeys } from '../../../../../plugins/transceiver/control/signature.ts'
import { byCallId, type CallDoor } from '../../../../../plugins/transceiver/signaling/by-call-id.ts'
import { address } from '../ice/support.ts'
import { DESCRIBED } from '../signaling/support.ts'
import { idAt, PublicSide } from './public-side.ts'
import { Stranger } from './stranger.ts'
import { inside, Owner } from './support.ts'

const mute = (): Promise<Stranger> => Stranger.open(createTcpServer((socket) => socket.on('error', () => {})))

function assertUnreachable(answer: { status: number; headers: Headers; body: string }, owner: Address): void {
  assert.equal(answer.status, 503)
  assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/)
  const { error } = JSON.parse(answer.body)
  assert.equal(error.code, 'owner_unreachable')
  assert.ok(
    !answer.body.includes(owner.host) && !answer.body.includes(String(owner.port)),
    'inner addresses stay inside',
  )
}

describe('a request for another owner’s call', () => {
  it('is answered by that owner, as the owner answers', async () => {
    await using owner = await Owner.open()
    await using side = await PublicSide.open()
    const id = owner.calls.holds(idAt(owner.local))
    const found = await side.ask(id)
    assert.equal(found.status, 200)
    assert.equal(found.headers.get('content-type'), 'application/json')
    assert.equal(found.headers.get('cache-control'), 'no-store')
    assert.equal(found.headers.get('earshot-control'), null)
    assert.deepEqual(JSON.parse(found.body), { ...DESCRIBED, id })
    for (const asked of [
      { method: 'DELETE' },
      { method: 'POST', path: '/hangup' },
      { method: 'POST', path: '/hangup', body: '{"a":1}', headers: { 'content-type': 'application/json' } },
    ]) {
      const answer = await side.ask(id, asked)
      assert.deepEqual([answer.status, answer.body], [200, '{}'])
    }
    assert.deepEqual(owner.calls.ended, [id, id, id])
    assert.equal(side.counters.passed, 4)
    assert.equal(owner.counters.served, 4)
    assert.equal(side.calls.times, 0, 'nobody else was asked')
  })

  it('travels by any method, with the headers that routes need, both ways', async () => {
    const routes = (scope: FastifyInstance, door: CallDoor) =>
      scope.patch('/v1/realtime/calls/:id/ice', byCallId(door), async (request, reply) => {
        const { 'if-match': match, authorization = '', cookie } = request.headers
        reply.code(match === '"a"' ? 204 : 412).headers({ etag: '"b"', 'x-inner': 'secret' })
        assert.deepEqual([String(request.body), cookie], ['a=candidate', undefined])
        assert.ok(!authorization.includes('alice'))
        return reply.send()
      })
    await using owner = await Owner.open({ routes })
    await using side = await PublicSide.open({ routes })
    const ask = (match: string) =>
      side.ask(idAt(owner.local), {
        ...{ method: 'PATCH', path: '/ice', body: 'a=candidate' },
        headers: { 'if-match': match, 'content-type': 'application/trickle-ice-sdpfrag', cookie: 'secret' },
      })
    for (const [match, status] of [
      ['"a"', 204],
      ['"c"', 412],
    ] as const) {
      const answer = await ask(match)
      assert.equal(answer.status, status)
      assert.equal(answer.headers.get('etag'), '"b"')
      assert.equal(answer.headers.get('x-inner'), null)
      assert.equal(answer.body, '')
    }
  })

  it('may name the whole URL in its first line, as through a proxy', async () => {
    await using owner = await Owner.open()
    await using side = await PublicSide.open()
    const id = owner.calls.holds(idAt(owner.local))
    const path = `http://edge.example/v1/realtime/calls/${id}`
    const headers = { authorization: 'Bearer alice' }
    const { host, port } = side.listening
    const [answer] = await once(request({ host, port, path, headers }).end(), 'response')
    assert.equal(answer.statusCode, 200)
    assert.equal(JSON.parse(await text(answer)).id, id)
  })

  it('of another caller, for an unknown call and for one that has ended is refused alike, there and here', async () => {
    await using owner = await Owner.open()
    await using side = await PublicSide.open()
    const id = owner.calls.holds(idAt(owner.local))
    const answers = [
      await side.ask(id, { key: 'bob' }),
      await side.ask(idAt(owner.local)),
      await side.ask(`${id.slice(0, -1)}${id.endsWith('0') ? 1 : 0}`),
      await side.ask('rtc_nonsense'),
      await side.ask(idAt(owner.local, 4)),
    ]
    const said = answers.map(({ status, headers, body }) => {
      assert.equal(status, 404)
      const others = [...headers].filter(([name]) => !['date', 'keep-alive', 'connection'].includes(name))
      return JSON.stringify([others, body])
    })
    assert.equal(new Set(said).size, 1)
    assert.equal(side.counters.passed, 3)
  })

  it('is passed on for nobody without a key', async () => {
    await using stranger = await mute()
    await using side = await PublicSide.open()
    const answer = await side.ask(idAt(stranger.local), { key: 'mallory' })
    assert.equal(answer.status, 401)
    assert.equal(stranger.dialled, 0)
  })

  it('goes through one connection after the other', async () => {
    await using owner = await Owner.open()
    await using side = await PublicSide.open()
    const id = owner.calls.holds(idAt(owner.local))
    const answers = await Promise.all(Array.from({ length: 200 }, () => side.ask(id)))
    assert.ok(answers.every(({ status }) => status === 200))
    assert.equal(owner.counters.served, 200)
  })
})

describe('an owner that is not there', () => {
  it('has refused: the caller may try again', async () => {
    const owner = await Owner.open()
    await owner.listener.close()
    await using side = await PublicSide.open()
    assertUnreachable(await side.ask(idAt(owner.local)), owner.local)
    assert.equal(side.counters.unreachable, 1)
  })

  it('is gone in the middle, or after a first answer', async () => {
    await using cut = await Stranger.http((request) => request.socket.destroy())
    await using side = await PublicSide.open()
    assertUnreachable(await side.ask(idAt(cut.local)), cut.local)
    const owner = await Owner.open()
    const id = owner.calls.holds(idAt(owner.local))
    assert.equal((await side.ask(id)).status, 200)
    await owner.listener.close()
    assertUnreachable(await side.ask(id), owner.local)
    assert.equal(side.counters.unreachable, 2)
  })

  it('says nothing, or never comes to an end: soon over', async () => {
    await using silent = await mute()
    await using slow = await Stranger.http((_request, response) => void response.write('{'))
    await using side = await PublicSide.open({ answerMs: 100 })
    for (const { local } of [silent, slow]) assertUnreachable(await side.ask(idAt(local)), local)
    assert.equal(side.counters.silent, 2)
  })

  it('cannot be proven: nothing of what a stranger answers reaches the caller', async () => {
    const evil = '<script>'
    await using page = await Stranger.http((_request, response) => response.end(evil))
    await using proof = await Stranger.http((_request, response) =>
      response.writeHead(200, { 'earshot-control': '0'.repeat(64) }).end(evil),
    )
    await using large = await Stranger.http((_request, response) => response.end(Buffer.alloc(2 ** 21)))
    await using other = await Owner.open({
      keys: new ControlKeys(['what another cluster of transceivers shares']),
    })
    await using side = await PublicSide.open()
    for (const { local } of [page, proof, large, other]) {
      const answer = await side.ask(idAt(local))
      assertUnreachable(answer, local)
      assert.ok(!answer.body.includes(evil))
    }
    assert.equal(side.counters.unproven, 4)
    assert.equal(other.counters.refused, 1)
  })
})

describe('nobody is dialled', () => {
  it('outside of the CIDRs and ports that are allowed', async () => {
    await using stranger = await mute()
    const { port } = stranger.local
    for (const owners of [inside('127.0.0.2/32'), inside('127.0.0.0/8', port + 1), inside('::/0', port)]) {
      await using side = await PublicSide.open({ owners })
      assert.equal((await side.ask(idAt(stranger.local))).status, 404)
      assert.deepEqual(side.notAllowed, [stranger.local.toString()])
      assert.equal(side.counters.not_allowed, 1)
    }
    await using all = await PublicSide.open({ owners: inside('0.0.0.0/0') })
    for (const where of [`0.0.0.0:${port}`, '127.0.0.1:0']) {
      assert.equal((await all.ask(idAt(address(where)))).status, 404)
    }
    assert.equal(stranger.dialled, 0)
  })

  it('of another cluster, or by an id of another cluster’s key', async () => {
    await using stranger = await mute()
    await using side = await PublicSide.open()
    const foreign = new SealedCodec([{ id: 1, key: 'ffeeddccbbaa99887766554433221100' }])
    for (const id of [idAt(stranger.local, 4), idAt(stranger.local, 3, foreign)]) {
      assert.equal((await side.ask(id)).status, 404)
    }
    assert.equal(stranger.dialled, 0)
  })

  it('when the call is our own', async () => {
    await using stranger = await mute()
    await using side = await PublicSide.open({ own: stranger.local })
    const id = side.calls.holds(idAt(stranger.local))
    assert.equal((await side.ask(id)).status, 200)
    assert.equal((await side.ask(idAt(stranger.local))).status, 404)
    assert.equal(stranger.dialled, 0)
  })

  it('twice: an id that leads to a public listener ends there', async () => {
    await using first = await PublicSide.open()
    await using second = await PublicSide.open()
    let asked = 0
    first.http.server.on('request', () => asked++)
    const target = second.listening
    const loop = first.listening
    for (const [owner, side] of [
      [target, first],
      [loop, second],
      [loop, first],
    ] as const) {
      assertUnreachable(await side.ask(idAt(owner)), owner)
    }
    assert.equal(first.counters.unproven + second.counters.unproven, 3)
    assert.equal(asked, 4, 'two by the test’s own requests, two by what was passed on')
  })
})
