/**
 * Two transceivers of one cluster: whatever is asked about a call may come to either, and the one that holds the call
 * answers. And what somebody makes of that who holds a routing key, or no key at all.
 */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { callIds } from '../../core/call-ids.ts'
import { type Address, parseAddress, randomBytes } from '../../core/index.ts'
import { SealedCodec } from '../../plugins/routing-codec/sealed/codec.ts'
import { makeCallId, parseCallId } from '../../plugins/transceiver/signaling/call-id.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { roleFile, sharedSecrets, startRole } from '../peers/edge-processes.ts'
import { metricIn } from '../peers/metric-text.ts'
import { randomCredentials, writeOffer } from '../peers/offer.ts'
import { OtlpReceiver } from '../peers/otlp-receiver.ts'
import { postTo } from '../peers/signaling.ts'
import { codec, KEYS, memberConfig } from './support/cluster.ts'
import { Conversation } from './support/conversation.ts'
import { assertHandles, handles } from './support/handles.ts'
import { ask, assertRefused, type HttpAnswer } from './support/http.ts'

const CALLS = '/v1/realtime/calls'
const OFFER = writeOffer({ ...randomCredentials(), fingerprint: Array(32).fill('AB').join(':') })
const AT_START = handles()
const WAYS = [
  ['GET', ''],
  ['DELETE', ''],
  ['POST', '/hangup'],
] as const

let owner: TestEdge
let other: TestEdge

const asks = (edge: TestEdge, method: string, path: string, key: string = KEYS.alice): Promise<HttpAnswer> =>
  ask(edge.origin, { method, path, headers: { authorization: `Bearer ${key}` } })

/** The path of a new call. */
async function start(edge: TestEdge): Promise<string> {
  const { url } = await postTo(edge.origin, { key: KEYS.alice })(OFFER)
  return new URL(url!).pathname
}

/** The path of a call that nobody made, by somebody who holds a routing key. */
function crafted(address: Address, { cluster = 1, by = codec } = {}): string {
  const route = { cluster, address, session: randomBytes(8) }
  return `${CALLS}/${makeCallId(by, route, randomBytes(16))}`
}

/** How many requests went which way. */
async function control(edge: TestEdge, outcome: string): Promise<number> {
  const text = await edge.edge.telemetry.metricsText()
  return metricIn(text, 'earshot_transceiver_control_requests_total', { outcome })
}

function routeOf(path: string) {
  return parseCallId(codec, path.split('/').at(-1)!)!.route
}

describe('two transceivers', () => {
  before(async () => {
    owner = await startEdge({ config: memberConfig() })
    other = await startEdge({ config: memberConfig() })
  })

  after(async () => {
    await owner.close()
    await other.close()
    await assertHandles(AT_START)
  })

  it('tell of a call and hang it up alike, and the client hears of its end', async () => {
    await using client = await TestClient.connect(postTo(owner.origin, { key: KEYS.alice, model: 'm' }))
    using talk = new Conversation(client)
    await talk.exchange(25)
    await talk.finish()
    const path = new URL(client.url!).pathname
    const told = await asks(other, 'GET', path)
    assert.equal(told.status, 200)
    const call = JSON.parse(told.body)
    assert.partialDeepStrictEqual(call, { id: path.split('/').at(-1), state: 'connected', model: 'm' })
    assert.ok(call.media.packets_received > 0)
    const namesOf = ({ headers }: HttpAnswer) => Object.keys(headers).sort()
    assert.deepEqual(namesOf(await asks(owner, 'GET', path)), namesOf(told))
    assert.equal((await asks(other, 'POST', `${path}/hangup`)).status, 200)
    assert.deepEqual(await client.events.take(), { type: 'session.ended', reason: 'hang_up' })
    assert.equal(await client.ended, 'close_notify')
    for (const edge of [other, owner]) assertRefused(await asks(edge, 'GET', path), 404, 'call_not_found')
    assert.equal(await control(other, 'passed'), 3)
    assert.equal(await control(owner, 'served'), 3)
  })

  it('do not tell another caller’s call, a wrong secret and an ended call apart, wherever they are asked', async () => {
    const path = await start(owner)
    const ended = await start(owner)
    assert.equal((await asks(other, 'DELETE', ended)).status, 200)
    const flipped = `${path.slice(0, -1)}${path.endsWith('0') ? '1' : '0'}`
    const bodies = new Set<string>()
    for (const edge of [other, owner]) {
      for (const [method, below] of WAYS) {
        for (const [at, key] of [
          [path, KEYS.bob],
          [flipped, KEYS.alice],
          [ended, KEYS.alice],
          [crafted(routeOf(path).address), KEYS.alice],
        ] as const) {
          const answer = await asks(edge, method, at + below, key)
          assertRefused(answer, 404, 'call_not_found')
          bodies.add(answer.body)
        }
        assertRefused(await asks(edge, method, path + below, 'nobody-has-this-key'), 401, 'unauthorized')
      }
    }
    assert.equal(bodies.size, 1)
    assert.equal((await asks(other, 'DELETE', path)).status, 200, 'the call was not harmed')
    assert.equal((await owner.sessions()).total, 0)
  })

  it('pass on once: who is asked by another passes nothing on', async () => {
    const before = [await control(owner, 'served'), await control(other, 'served')]
    // Each is told that the other has it.
    for (const [asked, named] of [
      [owner, other],
      [other, owner],
    ] as const) {
      const address = routeOf(await start(named)).address
      assertRefused(await asks(asked, 'DELETE', crafted(address)), 404, 'call_not_found')
    }
    assert.deepEqual(
      [await control(owner, 'served'), await control(other, 'served')],
      before.map((n) => n + 1),
    )
  })

  it('leave alone what is of another cluster, or sealed by its key', async () => {
    const { address } = routeOf(await start(owner))
    const refused = await control(owner, 'refused')
    const served = await control(owner, 'served')
    const by = new SealedCodec([{ id: 7, key: 'ff'.repeat(16) }])
    for (const path of [crafted(address, { cluster: 2 }), crafted(address, { by })]) {
      assertRefused(await asks(other, 'DELETE', path), 404, 'call_not_found')
    }
    assert.deepEqual([await control(owner, 'refused'), await control(owner, 'served')], [refused, served])
  })

  it('come to no harm by ids that lead elsewhere: to themselves, to public listeners, to a relay', async () => {
    const own = routeOf(await start(other)).address
    const at = (origin: string) => parseAddress(new URL(origin).host)!
    const relay = other.bound[0]!
    assertRefused(await asks(other, 'DELETE', crafted(own)), 404, 'call_not_found')
    for (const address of [
      at(other.origin),
      at(owner.origin),
      relay,
      at(`http://${other.edge.adminAddress}`),
    ]) {
      const answer = await asks(other, 'DELETE', crafted(address))
      assertRefused(answer, 503, 'owner_unreachable')
      assert.ok(!answer.body.includes(String(address.port)))
    }
    assertRefused(await asks(other, 'DELETE', crafted(parseAddress('127.0.0.1:80')!)), 404, 'call_not_found')
    assert.equal(await control(other, 'not_allowed'), 1)
    const warned = other.log.filter(({ level, msg }) => level === 40 && msg.includes('control.allow'))
    assert.equal(warned.length, 1)
  })
})

describe('an owner', () => {
  it('that drains is reached, and its last call hung up, from elsewhere', async () => {
    await using asked = await startEdge({ config: memberConfig() })
    const draining = await startEdge({ config: memberConfig(), drainSeconds: 60 })
    const path = await start(draining)
    const closed = draining.close()
    assert.equal((await asks(asked, 'GET', path)).status, 200)
    assert.equal((await asks(asked, 'DELETE', path)).status, 200)
    await closed
    assert.partialDeepStrictEqual(
      draining.log.find(({ msg }) => msg === 'call ended'),
      { reason: 'hang_up' },
    )
    assertRefused(await asks(asked, 'DELETE', path), 503, 'owner_unreachable')
  })

  it('that hangs, and that was killed: soon there is an answer, and it says to try again', async () => {
    const advertised = { EARSHOT_ADVERTISE: '127.0.0.1:3478' }
    const env = { ...sharedSecrets(), ...advertised }
    const killed = await startRole('transceiver', env)
    try {
      const ports = { EARSHOT_TRANSCEIVER_PORTS: '1024-65535' }
      await using asked = await startEdge({ config: roleFile('transceiver'), env: { ...env, ...ports } })
      const { url } = await postTo(killed.url)(OFFER)
      const path = new URL(url!).pathname
      assert.equal((await asks(asked, 'GET', path)).status, 200)
      killed.signal('SIGSTOP')
      assertRefused(await asks(asked, 'GET', path), 503, 'owner_unreachable')
      await killed.kill()
      assertRefused(await asks(asked, 'GET', path), 503, 'owner_unreachable')
      assert.equal(await control(asked, 'silent'), 1)
      assert.equal(await control(asked, 'unreachable'), 1)
    } finally {
      await killed.kill()
    }
  })

  it('without control keys is not asked, and its own calls are served', async () => {
    await using first = await startEdge({ config: memberConfig({ control: false }) })
    await using second = await startEdge({ config: memberConfig({ control: false }) })
    const path = await start(first)
    assertRefused(await asks(second, 'DELETE', path), 404, 'call_not_found')
    assert.equal((await asks(first, 'DELETE', path)).status, 200)
  })

  it('with another control key proves nothing, and does nothing', async () => {
    const control = { keys: ['a secret that one of them alone has got'] }
    await using first = await startEdge({ config: memberConfig() })
    await using second = await startEdge({ config: memberConfig({ control }) })
    const path = await start(first)
    assertRefused(await asks(second, 'DELETE', path), 503, 'owner_unreachable')
    const error = second.log.find(({ level }) => level === 50)
    assert.match(JSON.stringify(error), /is not signed: it holds none of our control keys/)
    assert.equal((await asks(first, 'DELETE', path)).status, 200)
  })
})

describe('the trace of a call', () => {
  it('has the way of a request that was passed on, on both sides', async () => {
    await using receiver = await OtlpReceiver.open()
    const telemetry = { otlp: receiver.url }
    await using first = await startEdge({ config: { ...memberConfig(), telemetry } })
    await using second = await startEdge({ config: { ...memberConfig(), telemetry } })
    const path = await start(first)
    assert.equal((await asks(second, 'DELETE', path)).status, 200)
    const { traceId, spanId } = callIds(routeOf(path).session)
    const passed = await receiver.span(traceId, 'control.pass_on')
    const served = await receiver.span(traceId, 'control.serve')
    assert.equal(passed.parentSpanId, spanId)
    assert.equal(served.parentSpanId, passed.spanId)
    assert.notEqual(passed.resource['service.instance.id'], served.resource['service.instance.id'])
    for (const { attributes } of [passed, served]) assert.equal(attributes['http.response.status_code'], 200)
  })
})
