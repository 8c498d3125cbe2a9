/** However a call ends, everything of it is freed, and a client that can still hear is told why. */

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { JsonObject } from '../../core/index.ts'
import { DtlsConnection } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { opusCounters } from '../../plugins/transceiver/media/opus.ts'
import { TestClient } from '../peers/client.ts'
import type { ClientOptions } from '../peers/client-options.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { type Post, Refused } from '../peers/signaling.ts'
import { edgeConfig } from './support/configs.ts'
import { Conversation } from './support/conversation.ts'
import { endings } from './support/endings.ts'
import { FastClock } from './support/fast-clock.ts'
import { assertHandles, handles } from './support/handles.ts'
import { type Deed, scripted } from './support/scripted-bridge.ts'

const BRIDGE = { use: './test/integration/support/scripted-bridge.ts' }
const AT_START = handles()

let edge: TestEdge
/** Closed after each test, whatever became of it. */
const clients: TestClient[] = []

async function connect(post: Post, options: ClientOptions = {}): Promise<TestClient> {
  const client = await TestClient.connect(post, options)
  clients.push(client)
  return client
}

/** A client that has not called yet. */
async function open(): Promise<TestClient> {
  const client = await TestClient.open()
  clients.push(client)
  return client
}

async function start(transceiver: Record<string, unknown> = {}, drainSeconds = 0): Promise<void> {
  edge = await startEdge({ config: edgeConfig({ bridge: BRIDGE, transceiver }), drainSeconds })
}

/** Starts calls of this model. */
function postOf(model: string): Post {
  return async (offer) => {
    const headers = { 'content-type': 'application/sdp' }
    const url = `/v1/realtime/calls?model=${model}`
    const response = await edge.edge.http.inject({ method: 'POST', url, payload: offer, headers })
    if (response.statusCode !== 201) throw new Refused(response.statusCode, response.body)
    return { sdp: response.body, url: String(response.headers.location) }
  }
}

/** A call in which audio and events have gone to and fro. */
async function talking(options: ClientOptions = {}): Promise<TestClient> {
  const client = await connect(edge.post, options)
  using talk = new Conversation(client, options.data !== false)
  await talk.exchange(5)
  await talk.finish()
  return client
}

/** Nothing of any call is left in the edge, nor in the bridge. */
async function assertFreed(): Promise<void> {
  await edge.untilIdle()
  await eventually('the bridge heard of it', () => scripted.open.size === 0)
}

const ended = (reason: string): JsonObject => ({ type: 'session.ended', reason })

function assertError(event: JsonObject, code: string): void {
  assert.equal(event.type, 'error')
  assert.partialDeepStrictEqual(event.error, { type: 'server_error', code, param: null })
  assert.doesNotMatch(JSON.stringify(event), /secret|1234|thrown by/)
}

/** The client hears these, and then close_notify. */
async function assertTold(client: TestClient, reason: string, code?: string): Promise<void> {
  if (code !== undefined) assertError(await client.events.take(), code)
  assert.deepEqual(await client.events.take(), ended(reason))
  assert.equal(await client.ended, 'close_notify')
  assert.equal(client.events.length, 0)
}

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  await edge.close()
  assert.equal(DtlsConnection.live, 0)
  assert.deepEqual([opusCounters.decoders, opusCounters.encoders], [0, 0])
  await assertHandles(AT_START)
})

describe('the client ends the call', () => {
  beforeEach(() => start())

  it('by close_notify', async () => {
    const client = await talking({ data: false })
    client.transport.dtls!.close()
    await assertFreed()
    assert.deepEqual(endings(edge.log), ['peer_closed'])
    await client.close()
  })

  it('by an SCTP ABORT', async () => {
    const client = await talking()
    client.channels!.close()
    await assertFreed()
    assert.deepEqual(endings(edge.log), ['channel_closed'])
    assert.equal(await client.ended, 'close_notify')
    await client.close()
  })

  it('by both at once, as a closed tab does', async () => {
    const client = await talking()
    await client.close()
    await assertFreed()
    assert.match(String(endings(edge.log)), /^(channel_closed|peer_closed)$/)
  })

  it('by falling silent: it is gone when its consent is 30 s old, and not before', async () => {
    const client = await talking()
    await client.vanish()
    using clock = new FastClock()
    clock.jump(25_000)
    // Two rounds of the edge's housekeeping.
    await eventually('time passes', seconds(2.2), 10_000)
    assert.equal((await edge.sessions()).total, 1)
    clock.jump(5000)
    await assertFreed()
    assert.deepEqual(endings(edge.log), ['peer_gone'])
  })

  it('but a client that checks goes on, whatever else it does not send', async () => {
    const client = await talking()
    using clock = new FastClock()
    for (let n = 0; n < 4; n++) {
      clock.jump(20_000)
      const { answered } = client.transport.checks!.counters
      await eventually(
        'another check is answered',
        () => client.transport.checks!.counters.answered > answered,
      )
    }
    await eventually('time passes', seconds(1.2), 10_000)
    assert.equal((await edge.sessions()).total, 1)
    await client.close()
    await assertFreed()
  })
})

/** A probe that is true once so much time has passed: the edge's housekeeping runs by a timer. */
function seconds(count: number): () => boolean {
  const until = process.hrtime.bigint() + BigInt(count * 1e9)
  return () => process.hrtime.bigint() > until
}

describe('the bridge ends the call', () => {
  beforeEach(() => start())

  const deeds: [deed: Deed, reason: string, code?: string][] = [
    ['throw', 'bridge_failed', 'bridge_failed'],
    ['reject', 'bridge_failed', 'bridge_failed'],
    ['fail', 'bridge_failed', 'bridge_timeout'],
    ['return', 'bridge_ended'],
    ['end', 'said_goodbye'],
  ]

  for (const [deed, reason, code] of deeds) {
    it(`in mid-call: ${deed}`, async () => {
      const client = await talking()
      client.sendEvent({ type: 'do', what: deed })
      await assertTold(client, reason, code)
      await assertFreed()
      assert.deepEqual(endings(edge.log), [reason])
    })

    it(`before the client is connected, which hears it all the same: ${deed}`, async () => {
      const client = await connect(postOf(deed))
      await assertTold(client, reason, code)
      await assertFreed()
      assert.deepEqual(endings(edge.log), [reason])
    })

    it(`before a client without a data channel is connected: ${deed}`, async () => {
      const client = await connect(postOf(deed), { data: false })
      assert.equal(await client.ended, 'close_notify')
      await assertFreed()
      assert.deepEqual(endings(edge.log), [reason])
    })

    it(`and the client never comes: ${deed}`, async () => {
      const client = await open()
      await postOf(deed)(client.offer)
      await client.vanish()
      using clock = new FastClock()
      clock.jump(31_000)
      await assertFreed()
      assert.deepEqual(endings(edge.log), [reason])
    })
  }

  it('and a hang-up before the client is connected still ends it at once', async () => {
    const client = await open()
    const { url } = await postOf('reject')(client.offer)
    assert.equal(await edge.hangUp(url!), 200)
    await assertFreed()
    await client.vanish()
  })

  it('never: a hang-up ends it', async () => {
    const client = await connect(postOf('never'))
    assert.equal(scripted.open.size, 1)
    assert.equal(await edge.hangUp(client.url!), 200)
    await assertTold(client, 'hang_up')
    await assertFreed()
    assert.deepEqual(endings(edge.log), ['hang_up'])
  })
})

describe('time ends the call', () => {
  it('after maxCallSeconds', async () => {
    await start({ maxCallSeconds: 60 })
    const client = await talking()
    using clock = new FastClock()
    clock.jump(20_000)
    await eventually('time passes', seconds(1.2), 10_000)
    assert.equal((await edge.sessions()).total, 1)
    clock.jump(20_000)
    await eventually('a check is answered', () => client.transport.checks!.counters.answered > 2)
    clock.jump(20_000)
    await assertTold(client, 'max_call_duration')
    await assertFreed()
    assert.deepEqual(endings(edge.log), ['max_call_duration'])
  })

  it('after connectSeconds, when the client never comes', async () => {
    await start({ connectSeconds: 60 })
    const client = await open()
    await edge.post(client.offer)
    using clock = new FastClock()
    clock.jump(59_000)
    assert.equal((await edge.sessions()).total, 1)
    clock.jump(2000)
    await assertFreed()
    assert.deepEqual(endings(edge.log), ['connect_timeout'])
    await client.vanish()
  })

  it('after connectSeconds, when it checks and never begins DTLS', async () => {
    await start({ connectSeconds: 60 })
    const client = await open()
    client.socket.tap = (way, bytes, at) => way === 'in' || bytes[at]! < 20
    client.accept(await edge.post(client.offer))
    await eventually('its address is proven', async () => (await edge.sessions()).sessions[0]?.client != null)
    using clock = new FastClock()
    clock.jump(61_000)
    await assertFreed()
    assert.deepEqual(endings(edge.log), ['connect_timeout'])
    await client.vanish()
  })
})

describe('the edge is stopped', () => {
  it('with calls in every state', async () => {
    await start()
    const calling = [await talking(), await talking(), await connect(postOf('never'))]
    const silent = await talking()
    await silent.vanish()
    const early = await open()
    await edge.post(early.offer)
    const parting = await open()
    await postOf('reject')(parting.offer)
    await edge.close()
    for (const client of calling) await assertTold(client, 'draining')
    assert.equal(scripted.open.size, 0)
    assert.deepEqual(new Set(endings(edge.log)), new Set(['draining', 'bridge_failed']))
  })

  it('while it drains, the last call ends by itself', async () => {
    await start({}, 60)
    const client = await talking()
    const closed = edge.close()
    client.sendEvent({ type: 'do', what: 'end' })
    await assertTold(client, 'said_goodbye')
    await closed
    await client.close()
  })
})
