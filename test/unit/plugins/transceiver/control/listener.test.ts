/** The control port: it serves what the cluster signed, once, and has not a word for anybody else. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ControlListener } from '../../../../../plugins/transceiver/control/listener.ts'
import { ControlKeys } from '../../../../../plugins/transceiver/control/signature.ts'
import { DESCRIBED } from '../signaling/support.ts'
import {
  type Asked,
  ask,
  BODY_LIMIT,
  CALL,
  inside,
  newNonce,
  Owner,
  SECRET,
  signed,
  tell,
} from './support.ts'

async function assertRefused(owner: Owner, asked: Asked, what = asked.path): Promise<void> {
  const answer = await ask(owner.local, asked)
  assert.equal(answer.status, 401, what)
  assert.equal(answer.body, '', what)
  const { date: _date, ...headers } = answer.headers
  assert.deepEqual(headers, { connection: 'close', 'content-length': '0' }, what)
}

describe('a signed request', () => {
  it('is served, by the caller’s name, and its answer is signed', async () => {
    await using owner = await Owner.open()
    const answer = await ask(owner.local, signed({}))
    assert.equal(answer.status, 200)
    assert.deepEqual(JSON.parse(answer.body), DESCRIBED)
    assert.match(String(answer.headers['earshot-control']), /^[0-9a-f]{64}$/)
    const bobs = await ask(owner.local, signed({ method: 'DELETE' }, { caller: { name: 'bob' } }))
    assert.equal(bobs.status, 404)
    assert.equal(owner.calls.ended.length, 0)
    const hangUp = signed({ method: 'POST', path: `${CALL}/hangup`, body: '{"a":1}' })
    assert.equal((await ask(owner.local, hangUp)).status, 200)
    assert.equal(owner.calls.ended.length, 1)
    assert.equal(owner.counters.served, 3)
    assert.equal(owner.counters.refused, 0)
  })

  it('for what is not there has an answer in the usual shape', async () => {
    await using owner = await Owner.open()
    for (const [asked, status, code] of [
      [{ path: `${CALL}x` }, 404, 'call_not_found'],
      [{ path: '/control/v1/realtime/calls' }, 404, 'not_found'],
      [{ path: '/v1/realtime/calls' }, 404, 'not_found'],
      [{ method: 'PUT' }, 405, 'method_not_allowed'],
      [{ method: 'PATCH', path: `${CALL}/hangup`, body: 'x' }, 405, 'method_not_allowed'],
      [{ method: 'DELETE', body: 'x'.repeat(BODY_LIMIT + 1) }, 413, 'payload_too_large'],
    ] as const) {
      const answer = await ask(owner.local, signed(asked))
      assert.equal(answer.status, status, JSON.stringify(asked).slice(0, 99))
      assert.equal(JSON.parse(answer.body).error.code, code)
      assert.ok(answer.headers['earshot-control'])
    }
  })

  it('is taken once', async () => {
    await using owner = await Owner.open()
    const asked = signed({ method: 'DELETE' })
    assert.equal((await ask(owner.local, asked)).status, 200)
    await assertRefused(owner, asked, 'the same again')
    const nonce = newNonce()
    assert.equal((await ask(owner.local, signed({}, { nonce }))).status, 200)
    await assertRefused(owner, signed({ method: 'DELETE' }, { nonce }), 'a nonce that was used')
    assert.equal(owner.calls.ended.length, 1)
  })

  it('with another body than was signed is none', async () => {
    await using owner = await Owner.open()
    const asked = signed({ method: 'POST', path: `${CALL}/hangup`, body: '{}' })
    await assertRefused(owner, { ...asked, body: '[]' })
    await assertRefused(owner, { ...signed({ method: 'DELETE' }), body: 'x' })
    assert.equal(owner.calls.ended.length, 0)
    assert.equal(owner.counters.served, 0)
  })

  it('by an old key is served while that key is listed', async () => {
    const keys = new ControlKeys(['a newer secret that the cluster goes over to', SECRET])
    await using owner = await Owner.open({ keys })
    assert.equal((await ask(owner.local, signed({}))).status, 200)
  })
})

describe('everything else', () => {
  const other = new ControlKeys(['what the transceivers of another cluster share'])
  const day = 86_400_000

  it('gets 401 and not a word', async () => {
    await using owner = await Owner.open()
    const none = { ...signed({ method: 'DELETE' }), headers: {} }
    const wrong: [string, Asked][] = [
      ['not signed', none],
      ['not signed, no such path', { ...none, path: '/' }],
      ['not signed, no such method', { ...none, method: 'PUT' }],
      ['not signed, large', { ...none, body: 'x'.repeat(BODY_LIMIT * 4) }],
      ['an API key', { ...none, headers: { authorization: 'Bearer alice' } }],
      ['signed by others', signed({ method: 'DELETE' }, { keys: other })],
      ['yesterday’s', signed({ method: 'DELETE' }, { time: Date.now() - day })],
      ['tomorrow’s', signed({ method: 'DELETE' }, { time: Date.now() + day })],
      ['another method', { ...signed({}), method: 'DELETE' }],
      ['another path', { ...signed({}), path: `${CALL}?x` }],
      ['a header more', { ...signed({}), headers: { ...signed({}).headers, 'if-match': '*' } }],
    ]
    for (const [what, asked] of wrong) await assertRefused(owner, asked, what)
    assert.equal(owner.calls.ended.length, 0)
    assert.equal(owner.counters.refused, wrong.length)
  })

  it('that is no HTTP is cut off', async () => {
    await using owner = await Owner.open()
    const head = `GET ${CALL} HTTP/1.1\r\n`
    for (const bytes of [
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'hello\r\n\r\n',
      Buffer.alloc(100_000, 0xff),
      `${head}x: ${'y'.repeat(50_000)}\r\n\r\n`,
      `${head}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
      'GET /%zz HTTP/1.1\r\nhost: x\r\n\r\n',
      'CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: x\r\n\r\n',
    ]) {
      assert.equal(await tell(owner.local, bytes), '', String(bytes).slice(0, 99))
    }
    assert.equal((await ask(owner.local, signed({}))).status, 200)
  })

  it('that comes slowly is not waited for', async () => {
    await using owner = await Owner.open({ limits: { headMs: 50, requestMs: 100 } })
    assert.equal(await tell(owner.local, `GET ${CALL} HTTP/1.1\r\nhost`), '')
    const { method, path, headers } = signed({ method: 'DELETE', body: 'all of it' })
    const fields = Object.entries(headers).map((field) => `${field.join(': ')}\r\n`)
    const head = `${method} ${path} HTTP/1.1\r\ncontent-length: 9\r\n${fields.join('')}\r\n`
    assert.equal(await tell(owner.local, `${head}all of`), '')
    assert.equal(owner.calls.ended.length, 0)
  })

  it('that comes from elsewhere is cut off, signed or not', async () => {
    await using owner = await Owner.open({ owners: inside('127.0.0.2/32') })
    await assert.rejects(ask(owner.local, signed({})))
    assert.equal(owner.counters.served + owner.counters.refused, 0)
  })

  it('that is more than may be connected is cut off', async () => {
    await using owner = await Owner.open({ limits: { connections: 0 } })
    await assert.rejects(ask(owner.local, signed({})))
  })
})

describe('the port', () => {
  it('that is taken is told of by its number', async () => {
    await using owner = await Owner.open()
    await assert.rejects(ControlListener.bind(owner.local), {
      code: 'address_in_use',
      message: new RegExp(`control port, TCP ${owner.local},`),
    })
  })

  it('is free again after close, and connections are cut', async () => {
    const owner = await Owner.open()
    const open = tell(owner.local, '')
    await ask(owner.local, signed({}))
    await owner.listener.close()
    assert.equal(await open, '')
    await (await ControlListener.bind(owner.local)).close()
  })
})
