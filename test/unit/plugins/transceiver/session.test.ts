/** One session's life in memory: how it ends, whom it tells, and what it proves before it sends. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type BridgeCall,
  IntegrityKey,
  type JsonObject,
  packetKind,
  STUN_ROOM,
} from '../../../../core/index.ts'
import { eventually } from '../../../../core/testing/check.ts'
import type { Flight } from '../../../../core/testing/memory-udp.ts'
import { loopback } from '../../../../plugins/inference-bridge/loopback/bridge.ts'
import { MAX_EVENTS } from '../../../../plugins/transceiver/call.ts'
import { writeCheck } from '../../../peers/checks.ts'
import type { TestClient } from '../../../peers/client.ts'
import { TELEPHONE_EVENT } from '../../../peers/offer.ts'
import { address } from './ice/support.ts'
import { bridgeOf, Rig } from './rig.ts'

const OPUS = Buffer.concat([Buffer.of(31 << 3), Buffer.alloc(40, 7)])
const ended = (reason: string): JsonObject => ({ type: 'session.ended', reason })

/** A bridge that hands its call to the test and goes on until the call ends. */
function held(): { bridge: ReturnType<typeof bridgeOf>; call: Promise<BridgeCall> } {
  const { promise, resolve } = Promise.withResolvers<BridgeCall>()
  const bridge = bridgeOf((call) => {
    resolve(call)
    return new Promise((done) => call.signal.addEventListener('abort', () => done()))
  })
  return { bridge, call: promise }
}

/** Every datagram takes so long. Returns what ends that. */
function slow(rig: Rig, ms: number): void {
  let passes = false
  rig.network.filter = ({ from, to, bytes }) => {
    if (passes) return true
    setTimeout(() => {
      passes = true
      rig.network.inject(bytes, from, to)
      passes = false
    }, ms)
    return false
  }
}

/** Notes what the transceiver sends from now on. */
function watch(rig: Rig): Flight[] {
  const flights: Flight[] = []
  rig.network.filter = (flight) => {
    if (flight.from.equals(rig.socket.local)) flights.push(flight)
    return true
  }
  return flights
}

async function eventsUntilEnd(client: TestClient): Promise<JsonObject[]> {
  assert.equal(await client.ended, 'close_notify')
  return client.events.drain()
}

describe('the last events', () => {
  it('end with session.ended, whatever the bridge sends or plays after it', async () => {
    const { bridge, call } = held()
    await using rig = await Rig.open({ bridge })
    await using client = await rig.connect()
    const bridged = await call
    bridged.signal.addEventListener('abort', () => bridged.send({ type: 'at the abort' }))
    bridged.send({ type: 'before' })
    bridged.end('done')
    bridged.send({ type: 'after' })
    void call.then((same) => same.send({ type: 'a microtask later' }))
    assert.deepEqual(await eventsUntilEnd(client), [{ type: 'before' }, ended('done')])
    await rig.untilIdle()
  })

  it('all leave before the call does, though there are many and the way is slow', async () => {
    const { bridge, call } = held()
    await using rig = await Rig.open({ bridge })
    await using client = await rig.connect()
    const bridged = await call
    slow(rig, 5)
    const events = Array.from({ length: 40 }, (_, n) => ({ n, text: 'x'.repeat(2000) }))
    for (const event of events) bridged.send(event)
    bridged.end('done')
    assert.deepEqual(await eventsUntilEnd(client), [...events, ended('done')])
  })

  it('reach a client that connects after its bridge has finished, with what the bridge said before', async () => {
    await using rig = await Rig.open({
      bridge: bridgeOf(async (call) => call.send({ type: 'goodbye' })),
    })
    await using client = await rig.connect()
    assert.deepEqual(await eventsUntilEnd(client), [{ type: 'goodbye' }, ended('bridge_ended')])
    await rig.untilIdle()
    assert.deepEqual(
      rig.ended.map(({ reason }) => reason),
      ['bridge_ended'],
    )
  })

  it('are waited for 3 s when the channel never takes them', async () => {
    const { bridge, call } = held()
    await using rig = await Rig.open({ bridge })
    await using client = await rig.connect()
    const { session } = rig
    rig.network.filter = () => false
    const bridged = await call
    for (let n = 0; n < 20; n++) bridged.send({ n, text: 'x'.repeat(50_000) })
    const now = performance.now()
    session.tick(now)
    bridged.end('done')
    session.tick(now + 2999)
    assert.notEqual(session.state, 'closed')
    session.tick(now + 3001)
    assert.equal(session.state, 'closed')
    await client.vanish()
  })

  it('are not waited for by a second wish to end before the client is there', async () => {
    await using rig = await Rig.open({ bridge: bridgeOf(async () => {}) })
    await using client = await rig.client()
    const { url } = await rig.post(client.offer)
    await delay(0)
    assert.equal(rig.sessions.size, 1)
    rig.sessions.hangUp(url!, rig.caller)
    assert.equal(rig.sessions.size, 0)
    assert.deepEqual(
      rig.ended.map(({ reason }) => reason),
      ['bridge_ended'],
    )
    await client.vanish()
  })

  it('keep the first reason when the client leaves at the same time', async () => {
    const { bridge, call } = held()
    await using rig = await Rig.open({ bridge })
    await using client = await rig.connect()
    ;(await call).end('done')
    await client.close()
    await rig.untilIdle()
    assert.deepEqual(
      rig.ended.map(({ reason }) => reason),
      ['done'],
    )
  })
})

describe('events on the way', () => {
  it('go on after one that the client would not take', async () => {
    const { bridge, call } = held()
    await using rig = await Rig.open({ bridge })
    await using client = await rig.connect()
    const bridged = await call
    bridged.send({ type: 'big', text: 'ä'.repeat(200_000) })
    bridged.send({ type: 'small' })
    const [first, second] = await client.events.takeMany(2)
    assert.equal(first?.type, 'error')
    assert.deepEqual(second, { type: 'small' })
  })

  it('go on after more than the channel holds was sent at once', async () => {
    const { bridge, call } = held()
    await using rig = await Rig.open({ bridge })
    await using client = await rig.connect()
    const bridged = await call
    slow(rig, 1)
    const events = Array.from({ length: 30 }, (_, n) => ({ n, text: 'x'.repeat(50_000) }))
    for (const event of events) bridged.send(event)
    assert.deepEqual(await client.events.takeMany(events.length, 20_000), events)
    bridged.send({ type: 'more' })
    assert.deepEqual(await client.events.take(), { type: 'more' })
  })

  it('that are no events end nothing', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.connect()
    for (const text of ['', 'hello', '[]', 'null', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`]) {
      client.sendText(text)
      const event = await client.events.take()
      assert.partialDeepStrictEqual(
        event,
        { type: 'error', error: { code: 'bad_request' } },
        text.slice(0, 9),
      )
    }
    client.sendEvent({ type: 'fine' })
    assert.deepEqual(await client.events.take(), { type: 'fine' })
  })

  it('flood a bridge that does not read, and cost bounded memory', async () => {
    const { bridge, call } = held()
    await using rig = await Rig.open({ bridge })
    await using client = await rig.connect()
    await call
    for (let n = 0; n < 20; n++) {
      client.sendEvent({ n, text: 'x'.repeat(200_000) })
      await eventually('it has left', () => !client.channels!.waiting)
    }
    const { error } = await client.events.take()
    assert.partialDeepStrictEqual(error, { code: 'events_dropped' })
    const read: JsonObject[] = []
    void (async () => {
      for await (const event of (await call).events) read.push(event)
    })()
    await eventually('they are read', () => read.length > 0)
    await delay(0)
    assert.ok(read.length <= 6 && read.length < MAX_EVENTS, `${read.length} of 200 KB were kept`)
  })

  it('tell of keys that were pressed', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.connect()
    client.sendAudio(Buffer.of(11, 0x80, 0x12, 0xc0), { payloadType: TELEPHONE_EVENT, marker: true })
    assert.deepEqual(await client.events.take(), { type: 'telephone_event', digit: '#', duration_ms: 100 })
  })
})

describe('a bridge that ignores the end', () => {
  it('does not starve anybody by playing on', async () => {
    let plays = 0
    let stop = false
    const bridge = bridgeOf(async (call) => {
      for (; !stop; plays++) await call.play({ data: OPUS, durationMs: 20 })
    })
    await using rig = await Rig.open({ bridge })
    await using client = await rig.connect()
    await client.close()
    await rig.untilIdle()
    const before = plays
    await delay(100)
    stop = true
    assert.ok(plays - before < 50, `${plays - before} frames in 100 ms`)
  })
})

describe('a fault of ours', () => {
  it('in a call’s audio ends that call and no other', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.connect()
    const { session } = rig
    await using other = await rig.connect()
    session.media.tick = () => {
      throw new Error('secret: out of memory')
    }
    client.sendAudio(OPUS)
    const error = { code: 'internal', message: 'Something went wrong in the edge.', param: null }
    assert.deepEqual(await eventsUntilEnd(client), [
      { type: 'error', error: { type: 'server_error', ...error } },
      ended('internal'),
    ])
    other.sendAudio(OPUS)
    assert.deepEqual((await other.audio.take()).payload, OPUS)
    assert.match(String(rig.ended[0]?.fault?.cause), /out of memory/)
  })

  it('while it takes a packet does too, and nothing is thrown at the socket', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.connect()
    rig.session.media.receiveRtp = () => {
      throw new Error('a bug')
    }
    client.sendAudio(OPUS)
    assert.equal((await eventsUntilEnd(client)).at(-1)?.reason, 'internal')
    assert.equal(rig.socket.counters.receiveErrors, 0)
    await rig.untilIdle()
  })
})

describe('consent', () => {
  it('ends 30 s after the last check, and then nothing is sent, not even a goodbye', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.connect({ checkEveryMs: Number.POSITIVE_INFINITY })
    client.sendAudio(OPUS)
    await client.audio.take()
    const { session } = rig
    const lastCheckAt = session.ice.lastCheckAt!
    const flights = watch(rig)
    session.tick(lastCheckAt + 29_999)
    assert.equal(session.state, 'connected')
    const before = flights.length
    session.tick(lastCheckAt + 30_000)
    assert.equal(session.state, 'closed')
    await delay(0)
    assert.equal(flights.length, before)
    assert.deepEqual(
      rig.ended.map(({ reason, fault }) => [reason, fault?.code]),
      [['peer_gone', 'peer_gone']],
    )
    await rig.untilIdle()
    await client.vanish()
  })
})

describe('a session that ends while it handles a datagram', () => {
  it('leaves nothing in the tables, though the datagram came by an address that is new', async () => {
    // It ends with the handshake: its bridge has finished, and without a data channel there is nothing to say.
    await using rig = await Rig.open({ bridge: bridgeOf(async () => {}) })
    await using client = await rig.client({ data: false })
    const flight: Buffer[] = []
    client.socket.tap = (way, bytes, start, end) => {
      const isHello = bytes[start] === 22 && bytes[start + 13] === 1
      if (way === 'in' || isHello || packetKind(bytes[start]!) !== 'dtls') return true
      flight.push(Buffer.from(bytes.subarray(start, end)))
      return false
    }
    client.accept(await rig.post(client.offer))
    await eventually('the last flight was sent', () => flight.length > 0)
    const { session } = rig
    const elsewhere = { relay: undefined, local: address('192.0.2.99:3478'), client: client.local }
    assert.equal(session.state, 'connecting')
    for (const bytes of flight) session.receiveDtls(performance.now(), bytes, 0, bytes.length, elsewhere)
    assert.equal(session.state, 'closed')
    await rig.untilIdle()
  })

  it('takes nothing any more', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.connect()
    const { session } = rig
    session.close('test')
    const path = { relay: undefined, local: rig.socket.local, client: client.local }
    const bytes = Buffer.alloc(100, 22)
    assert.equal(session.receiveStun(performance.now(), bytes, 0, 100, path), 'ignored')
    assert.equal(session.receiveDtls(performance.now(), bytes, 0, 100, path), false)
    assert.equal(session.receiveMedia(performance.now(), bytes, 0, 100, path), false)
    session.end('again')
    session.tick(performance.now() + 60_000)
    session.housekeep(performance.now() + 60_000)
    assert.deepEqual(
      rig.ended.map(({ reason }) => reason),
      ['test'],
    )
    await client.vanish()
  })
})

describe('a handshake', () => {
  it('of which a part was sent elsewhere proves nothing of the address where it ended', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.client()
    const victim = address('203.0.113.66:666')
    const answer = await rig.post(client.offer)
    const hello = (bytes: Buffer, at: number): boolean => bytes[at] === 22 && bytes[at + 13] === 1
    let hellos = 0
    // The first ClientHello and the last flight come from the victim's address; what is between does not.
    client.socket.tap = (way, bytes, start, end) => {
      if (way === 'in' || packetKind(bytes[start]!) !== 'dtls') return true
      if (hello(bytes, start) && hellos++ > 0) return true
      rig.network.inject(bytes.subarray(start, end), victim, rig.socket.local)
      return false
    }
    client.accept(answer)
    client.transport.checks!.answers = false
    rig.network.inject(checkFrom(client), victim, rig.socket.local)
    const { session } = rig
    await eventually('the handshake is done', () => session.state === 'connected')
    assert.equal(session.ice.selected, undefined)
    await client.vanish()
  })

  it('that one address has seen alone proves that address', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.client()
    client.accept(await rig.post(client.offer))
    client.transport.checks!.answers = false
    await client.connected()
    assert.equal(String(rig.session.ice.selected?.client), String(client.local))
    await client.close()
  })

  it('is ours to begin where the offer says passive, once the client is known to receive', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    const flights = watch(rig)
    await using client = await rig.connect({ setup: 'passive' })
    const kinds = flights.map(({ bytes }) => packetKind(bytes[0]!))
    assert.ok(kinds.indexOf('dtls') > 1, 'after our answer and our check')
    client.sendEvent({ type: 'hello' })
    assert.deepEqual(await client.events.take(), { type: 'hello' })
    await client.close()
    await rig.untilIdle()
  })
})

describe('media', () => {
  it('before the handshake, or of nobody, is dropped and counted', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.client()
    client.accept(await rig.post(client.offer))
    client.sendRaw(Buffer.alloc(60, 0x80))
    await client.connected()
    client.sendRaw(Buffer.alloc(60, 0x80))
    rig.network.inject(Buffer.alloc(60, 0x80), address('203.0.113.1:1'), rig.socket.local)
    await eventually('they are counted', () => rig.dispatch.drops.unclaimed_media === 3)
    assert.equal(rig.session.media.stats.packetsReceived, 0)
    await client.close()
  })

  it('goes on when its source changes', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.connect()
    await using other = await rig.client()
    client.sendAudio(OPUS)
    await client.audio.take()
    Object.assign(client.media!, { ssrc: (client.media!.ssrc + 1) >>> 0 })
    client.sendAudio(OPUS)
    assert.deepEqual((await client.audio.take()).payload, OPUS)
    await other.vanish()
  })
})

/** A fresh check as the client itself would send it. */
function checkFrom(client: TestClient): Buffer {
  const { ufrag, pwd } = client.answer!
  const out = Buffer.alloc(STUN_ROOM)
  const username = `${ufrag}:${client.credentials.ufrag}`
  const check = { username, priority: 1, useCandidate: true, tieBreaker: randomBytes(8) }
  return out.subarray(0, writeCheck(out, randomBytes(12), check, new IntegrityKey(pwd)))
}
