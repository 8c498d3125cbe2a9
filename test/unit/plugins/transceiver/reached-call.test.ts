/** One live call as signaling reaches it: who listens beside the client, and its ICE restarts; and data channels by id. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type BridgeCall,
  EdgeError,
  type ErrorCode,
  type JsonObject,
  type Principal,
} from '../../../../core/index.ts'
import { eventually } from '../../../../core/testing/check.ts'
import { loopback } from '../../../../plugins/inference-bridge/loopback/bridge.ts'
import { MAX_LISTENERS } from '../../../../plugins/transceiver/listeners.ts'
import type { EventListener, ReachedCall } from '../../../../plugins/transceiver/signaling/reached-call.ts'
import type { TestClient } from '../../../peers/client.ts'
import type { ClientOptions } from '../../../peers/client-options.ts'
import { randomCredentials, writeOffer } from '../../../peers/offer.ts'
import { bridgeOf, Rig } from './rig.ts'

const OFFER = { ...randomCredentials(), fingerprint: Array(32).fill('AB').join(':') }
const refused = (code: ErrorCode) => (error: unknown) => error instanceof EdgeError && error.code === code

/** Keeps what it hears. */
class Ear implements EventListener {
  readonly events: JsonObject[] = []
  end: [reason: string, failed: boolean] | undefined

  onEvent(text: string): void {
    assert.equal(this.end, undefined)
    this.events.push(JSON.parse(text))
  }

  onEnd(reason: string, failed: boolean): void {
    this.end = [reason, failed]
  }
}

/** A call of a rig's own, and what signaling may do with it. */
async function call(
  rig: Rig,
  options: ClientOptions = {},
): Promise<{ client: TestClient; reached: ReachedCall; id: string }> {
  const client = await rig.connect(options)
  const id = client.url!
  return { client, id, reached: rig.sessions.reach(id, rig.caller) }
}

describe('a listener', () => {
  it('hears what the bridge says, and speaks as the client does', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    const { client, reached } = await call(rig)
    await using _client = client
    const ear = new Ear()
    const joined = reached.listeners.join(ear)
    client.sendEvent({ type: 'from.client' })
    await eventually('both hear the echo', () => ear.events.length === 1)
    assert.deepEqual(await client.events.take(), { type: 'from.client' })
    joined.send({ type: 'from.sideband' }, 20)
    assert.deepEqual(await client.events.take(), { type: 'from.sideband' })
    assert.deepEqual(ear.events, [{ type: 'from.client' }, { type: 'from.sideband' }])
    joined.leave()
    client.sendEvent({ type: 'unheard' })
    await client.events.take()
    assert.equal(ear.events.length, 2)
  })

  it('hears events of a call without a data channel, and once where they wait for one', async () => {
    let open: BridgeCall | undefined
    const bridge = bridgeOf(async (one) => {
      open = one
      await new Promise(() => {})
    })
    for (const data of [false, true]) {
      await using rig = await Rig.open({ bridge })
      await using client = await rig.client({ data })
      const answered = await rig.post(client.offer)
      const ear = new Ear()
      rig.sessions.reach(answered.url!, rig.caller).listeners.join(ear)
      open?.send({ type: 'early' })
      client.accept(answered)
      await client.connected()
      if (data) assert.deepEqual(await client.events.take(), { type: 'early' })
      assert.deepEqual(ear.events, [{ type: 'early' }])
    }
  })

  it('voice 36: is told when the browser closes', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    const { client, reached } = await call(rig)
    const ear = new Ear()
    reached.listeners.join(ear)
    await client.close()
    await eventually('it is told', () => ear.end !== undefined)
    const [reason, failed] = ear.end!
    assert.ok(['peer_closed', 'channel_closed'].includes(reason), reason)
    assert.equal(failed, false)
    assert.deepEqual(ear.events, [{ type: 'session.ended', reason }])
    assert.throws(() => reached.listeners.join(new Ear()), refused('call_not_found'))
  })

  it('is told of a bridge that fails, as the client is', async () => {
    const bridge = bridgeOf(async ({ events }) => {
      for await (const _event of events) throw new Error('the backend is at 10.0.0.9')
    })
    await using rig = await Rig.open({ bridge })
    const { client, reached } = await call(rig)
    await using _client = client
    const ear = new Ear()
    reached.listeners.join(ear)
    client.sendEvent({ type: 'go' })
    await eventually('it is told', () => ear.end !== undefined)
    assert.deepEqual(ear.end, ['bridge_failed', true])
    assert.deepEqual(
      ear.events.map(({ type }) => type),
      ['error', 'session.ended'],
    )
    assert.doesNotMatch(JSON.stringify(ear.events), /10\.0\.0\.9/)
  })

  it('is one of a few', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    const { client, reached } = await call(rig)
    await using _client = client
    const joined = Array.from({ length: MAX_LISTENERS }, () => reached.listeners.join(new Ear()))
    assert.throws(() => reached.listeners.join(new Ear()), refused('rate_limited'))
    joined[0]!.leave()
    reached.listeners.join(new Ear())
  })

  it('is the caller’s own', async () => {
    await using rig = await Rig.open()
    const { url } = await rig.post(writeOffer(OFFER))
    assert.throws(() => rig.sessions.reach(url!, { name: 'bob' }), refused('call_not_found'))
    const secret = { ...rig.caller, clientSecret: 'x' }
    assert.throws(() => rig.sessions.reach(url!, secret), refused('call_not_found'))
    const made = await rig.sessions.create({ sdp: writeOffer(OFFER), caller: secret })
    assert.ok(rig.sessions.reach(made.id, secret))
    assert.ok(rig.sessions.reach(made.id, rig.caller), 'the key reaches what its secrets made')
    assert.throws(
      () => rig.sessions.reach(made.id, { ...secret, clientSecret: 'y' }),
      refused('call_not_found'),
    )
  })
})

describe('an ICE restart', () => {
  it('takes effect when the client uses it; until then and after it the call goes on', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    const { client, reached } = await call(rig)
    await using _client = client
    const { restarts } = reached
    const before = restarts.tag
    assert.ok(restarts.isCurrent(client.credentials))
    const remote = randomCredentials()
    const local = restarts.restart(remote)
    assert.notEqual(restarts.tag, before)
    assert.ok(restarts.isCurrent(remote) && !restarts.isCurrent(client.credentials))
    assert.equal(rig.sessions.routes.size.ufrags, 2)
    client.sendEvent({ type: 'before' })
    assert.deepEqual(await client.events.take(), { type: 'before' })
    client.transport.start(remote, { ...client.answer!, ...local })
    await eventually('the old ufrag leads nowhere', () => rig.sessions.routes.size.ufrags === 1)
    await eventually('the client is answered', () => client.transport.checks!.counters.answered > 0)
    client.sendEvent({ type: 'after' })
    assert.deepEqual(await client.events.take(), { type: 'after' })
    assert.equal(rig.session.ice.selected?.client.toString(), client.local.toString())
    assert.equal(client.answer?.ufrag === local.ufrag, false)
  })

  it('that is not used leaves the call as it was, and no more than one behind', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    const { client, reached } = await call(rig)
    await using _client = client
    const tags = new Set([reached.restarts.tag])
    for (let i = 0; i < 3; i++) {
      reached.restarts.restart(randomCredentials())
      tags.add(reached.restarts.tag)
      assert.equal(rig.sessions.routes.size.ufrags, 2)
    }
    assert.equal(tags.size, 4)
    client.transport.checks!.start(performance.now())
    client.sendEvent({ type: 'still here' })
    assert.deepEqual(await client.events.take(), { type: 'still here' })
    await client.close()
    await rig.untilIdle()
  })
})

describe('a data channel by its id', () => {
  it('is open without a word from either side, under any label', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    for (const channelId of [0, 7, 1000]) {
      await using client = await rig.client({ channelId })
      const { id, sdp } = await rig.sessions.create({ sdp: client.offer, caller: rig.caller, channelId })
      client.accept({ sdp, url: id })
      await client.connected()
      client.sendEvent({ type: 'hello', channelId })
      assert.deepEqual(await client.events.take(), { type: 'hello', channelId })
      assert.deepEqual(client.faults, [])
      await client.close()
      await rig.untilIdle()
    }
  })

  it('needs a data channel in the offer', async () => {
    await using rig = await Rig.open()
    const sdp = writeOffer({ ...OFFER, data: false })
    await assert.rejects(
      rig.sessions.create({ sdp, caller: rig.caller, channelId: 1 }),
      refused('bad_request'),
    )
    assert.equal(rig.sessions.size, 0)
  })
})

describe('the calls of one key', () => {
  it('have their number: 429, until one has ended', async () => {
    const limits = { callsPerKey: 2, requestsPerMinute: 1, keys: { bob: { callsPerKey: 1 } } }
    await using rig = await Rig.open({ limits })
    const start = (name: string) => rig.sessions.create({ sdp: writeOffer(OFFER), caller: { name } })
    const first = await start('alice')
    await start('alice')
    await start('bob')
    await assert.rejects(start('alice'), refused('key_limit_reached'))
    await assert.rejects(start('bob'), refused('key_limit_reached'))
    assert.equal(rig.sessions.counters.refused.get('key_limit_reached'), 2)
    await assert.rejects(rig.sessions.create({ sdp: 'x', caller: { name: 'carol' } }), refused('invalid_sdp'))
    rig.sessions.hangUp(first.id, { name: 'alice' })
    await eventually('it has ended', () => rig.sessions.size === 2)
    await start('alice')
  })
})

describe('a call that takes another’s place', () => {
  it('ends it as it begins, and needs no room for that', async () => {
    const limits = { callsPerKey: 1, requestsPerMinute: 1, keys: {} }
    await using rig = await Rig.open({ limits, maxCalls: 1 })
    const start = (caller: Principal, replaces?: string) =>
      rig.sessions.create({ sdp: writeOffer(OFFER), caller, ...(replaces ? { replaces } : {}) })
    const first = await start(rig.caller)
    const second = await start(rig.caller, first.id)
    assert.deepEqual(
      rig.ended.map(({ reason }) => reason),
      ['hang_up'],
    )
    const isFull = refused('key_limit_reached')
    await assert.rejects(start(rig.caller, first.id), isFull, 'it has no place to give any more')
    await assert.rejects(start(rig.caller, `${second.id}0`), isFull)
    await assert.rejects(start({ name: 'bob' }, second.id), refused('too_many_calls'))
    const bad = rig.sessions.create({ sdp: 'x', caller: rig.caller, replaces: second.id })
    await assert.rejects(bad, refused('invalid_sdp'))
    assert.deepEqual([rig.sessions.size, rig.ended.length], [1, 1])
    assert.equal(rig.sessions.describe(second.id, rig.caller).state, 'connecting')
  })

  it('is heard of by a client that can still hear', async () => {
    await using rig = await Rig.open()
    await using old = await rig.connect()
    await using client = await rig.client()
    const { id, sdp } = await rig.sessions.create({
      sdp: client.offer,
      caller: rig.caller,
      replaces: old.url!,
    })
    assert.equal(await old.ended, 'close_notify')
    client.accept({ sdp, url: id })
    await client.connected()
    assert.equal(rig.sessions.size, 1)
  })
})

describe('what pipecat’s client says beside events', () => {
  it('reaches no bridge, and is answered', async () => {
    const heard: JsonObject[] = []
    const bridge = bridgeOf(async ({ events }) => {
      for await (const event of events) heard.push(event)
    })
    await using rig = await Rig.open({ bridge })
    await using client = await rig.client({ label: 'chat' })
    const { id, sdp } = await rig.sessions.create({ sdp: client.offer, caller: rig.caller, dialect: 'rtvi' })
    client.accept({ sdp, url: id })
    await client.connected()
    client.sendText(`ping: ${1}`)
    client.sendText('{"type":"signalling","message":{"type":"trackStatus"}}')
    client.sendText('{"id":"1","label":"rtvi-ai","type":"client-ready"}')
    assert.equal((await client.events.take()).type, 'bot-ready')
    client.sendText('{"type":"mine"}')
    await eventually('the bridge hears the one event', () => heard.length > 0)
    assert.deepEqual(heard, [{ type: 'mine' }])
  })
})
