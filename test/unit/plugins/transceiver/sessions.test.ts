/** The table of calls: who gets in, who may end what, and that the end leaves nothing. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { EdgeError, type ErrorCode } from '../../../../core/index.ts'
import { eventually } from '../../../../core/testing/check.ts'
import { loopback } from '../../../../plugins/inference-bridge/loopback/bridge.ts'
import { END_REASONS } from '../../../../plugins/transceiver/sessions-options.ts'
import { randomCredentials, writeOffer } from '../../../peers/offer.ts'
import { address } from './ice/support.ts'
import { bridgeOf, Rig } from './rig.ts'

const OFFER = writeOffer({ ...randomCredentials(), fingerprint: Array(32).fill('AB').join(':') })
const refused = (code: ErrorCode) => (error: unknown) => error instanceof EdgeError && error.code === code
const NOTHING = { sessions: 0, ufrags: 0, addresses: 0 }
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

describe('starting a call', () => {
  it('answers with a ufrag that leads to it and an id that does not follow from that', async () => {
    await using rig = await Rig.open()
    const { id, sdp } = await rig.sessions.create({ sdp: OFFER, caller: rig.caller })
    const ufrag = /a=ice-ufrag:(\S+)/.exec(sdp)![1]!
    const bytes = Buffer.from(ufrag)
    assert.equal(rig.sessions.routes.byUfrag(bytes, 0, bytes.length), rig.session)
    assert.match(id, /^rtc_[a-z0-9]+$/)
    assert.ok(!id.includes(ufrag) && !id.includes(rig.session.id))
    assert.equal(rig.session.caller, rig.caller)
  })

  it('gives each its own secrets', async () => {
    await using rig = await Rig.open()
    const answers = [await rig.post(OFFER), await rig.post(OFFER)]
    for (const pattern of [/ice-ufrag:(\S+)/, /ice-pwd:(\S+)/, /ssrc:(\d+)/, /cname:(\S+)/, /^o=- (\d+)/m]) {
      const [one, other] = answers.map(({ sdp }) => pattern.exec(sdp)?.[1])
      assert.ok(one && other && one !== other, String(pattern))
    }
    assert.equal(rig.sessions.size, 2)
  })

  it('tells the bridge who calls, and what was asked for', async () => {
    const seen: unknown[] = []
    const bridge = bridgeOf(async ({ id, caller, model, session, traceSession }) => {
      seen.push([id, caller, model, session, Buffer.from(traceSession).toString('hex')])
      await new Promise(() => {})
    })
    await using rig = await Rig.open({ bridge })
    const session = { voice: 'x' }
    await rig.sessions.create({ sdp: OFFER, caller: rig.caller, model: 'm', session })
    const { id } = rig.session
    assert.deepEqual(seen, [[id, rig.caller, 'm', session, id]])
  })

  it('leaves nothing behind when it is refused, and counts why', async () => {
    await using rig = await Rig.open()
    const before = timers()
    await assert.rejects(rig.post('hello'), refused('invalid_sdp'))
    await assert.rejects(rig.post('v=0\r\n'), refused('no_audio'))
    assert.deepEqual([rig.sessions.size, rig.sessions.routes.size], [0, NOTHING])
    // Fewer there may be: what the test before this one left runs out.
    assert.ok(timers() <= before, `${timers()} timers after, ${before} before`)
    assert.deepEqual(
      [...rig.sessions.counters.refused],
      [
        ['invalid_sdp', 1],
        ['no_audio', 1],
      ],
    )
    assert.equal(rig.sessions.counters.started, 0)
  })

  it('takes one offer in each turn of the event loop, so that a crowd does not hold up audio', async () => {
    await using rig = await Rig.open()
    const all = Promise.all(Array.from({ length: 5 }, () => rig.post(OFFER)))
    for (let size = 0, turns = 0; size < 5; turns++) {
      await new Promise((resolve) => setImmediate(resolve))
      assert.ok(rig.sessions.size - size <= 1, `${rig.sessions.size - size} calls in one turn`)
      size = rig.sessions.size
      assert.ok(turns < 100)
    }
    await all
  })

  it('takes so many calls and no more', async () => {
    await using rig = await Rig.open({ maxCalls: 2 })
    const { url } = await rig.post(OFFER)
    await rig.post(OFFER)
    await assert.rejects(rig.post(OFFER), refused('too_many_calls'))
    rig.sessions.hangUp(url!, rig.caller)
    await rig.post(OFFER)
    assert.equal(rig.sessions.size, 2)
  })

  it('survives a bridge that throws, rejects, ends the call or returns within open', async () => {
    const bridges = {
      throws: bridgeOf(() => {
        throw new Error('at once')
      }),
      rejects: bridgeOf(() => Promise.reject(new Error('soon'))),
      ends: bridgeOf(async (call) => {
        call.end('x')
        call.end('y')
        await call.play({ data: Uint8Array.of(0xf8), durationMs: 20 })
        call.send({})
        call.flush()
        assert.equal(call.queuedMs, 0)
      }),
      returns: bridgeOf(async () => {}),
    }
    for (const [name, bridge] of Object.entries(bridges)) {
      await using rig = await Rig.open({ bridge })
      const { sdp, url } = await rig.post(OFFER)
      assert.ok(sdp && url, name)
      await delay(0)
      assert.equal(rig.sessions.size, 1, 'the client is waited for')
      rig.sessions.close()
      assert.deepEqual(rig.sessions.routes.size, NOTHING)
    }
  })
})

describe('ending a call', () => {
  it('is for its own caller, by its whole id', async () => {
    await using rig = await Rig.open()
    const { url, sdp } = await rig.post(OFFER)
    const id = url!
    const ufrag = /a=ice-ufrag:(\S+)/.exec(sdp)![1]!
    const wrong = ['', 'rtc_', id.slice(0, -1), `${id}0`, id.toUpperCase(), `rtc_${ufrag}${id.slice(-32)}`]
    const flipped = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0')
    for (const text of [...wrong, flipped, rig.session.id]) {
      assert.throws(() => rig.sessions.hangUp(text, rig.caller), refused('call_not_found'), text)
    }
    for (const name of ['bob', '', 'Alice', 'alice ', 'constructor']) {
      assert.throws(() => rig.sessions.hangUp(id, { name }), refused('call_not_found'), name)
    }
    assert.equal(rig.sessions.size, 1)
    rig.sessions.hangUp(id, { name: 'alice' })
    assert.equal(rig.sessions.size, 0)
    assert.throws(() => rig.sessions.hangUp(id, rig.caller), refused('call_not_found'))
    assert.partialDeepStrictEqual(rig.ended, [{ caller: 'alice', reason: 'hang_up', fault: undefined }])
  })

  it('is for one client secret, where one began it, and for its key', async () => {
    await using rig = await Rig.open()
    const offer = { sdp: OFFER, caller: { name: 'alice', clientSecret: 'one' } }
    const { id } = await rig.sessions.create(offer)
    assert.throws(
      () => rig.sessions.describe(id, { name: 'alice', clientSecret: 'two' }),
      refused('call_not_found'),
    )
    assert.throws(
      () => rig.sessions.describe(id, { name: 'bob', clientSecret: 'one' }),
      refused('call_not_found'),
    )
    assert.equal(rig.sessions.describe(id, { name: 'alice' }).id, id)
    rig.sessions.hangUp(id, { name: 'alice', clientSecret: 'one' })
    const keyed = await rig.sessions.create({ ...offer, caller: { name: 'alice' } })
    assert.throws(() => rig.sessions.hangUp(keyed.id, offer.caller), refused('call_not_found'))
  })

  it('is told of to its own caller alone', async () => {
    await using rig = await Rig.open()
    const before = Math.floor(Date.now() / 1000)
    const { id } = await rig.sessions.create({ sdp: OFFER, caller: rig.caller, model: 'm' })
    const { created_at, duration_ms, ...told } = rig.sessions.describe(id, rig.caller)
    assert.deepEqual(told, {
      id,
      object: 'realtime.call',
      state: 'connecting',
      model: 'm',
      media: { packets_received: 0, packets_sent: 0, packets_lost: 0, jitter_ms: 0, round_trip_ms: null },
    })
    assert.ok(created_at >= before && duration_ms >= 0)
    assert.throws(() => rig.sessions.describe(id, { name: 'bob' }), refused('call_not_found'))
  })

  it('leaves no timer when it was the last', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    const before = timers()
    const client = await rig.connect()
    await client.close()
    await rig.untilIdle()
    await eventually('the timers are gone', () => timers() <= before)
  })

  it('counts by a closed set of reasons, whatever a bridge says', async () => {
    let n = 0
    await using rig = await Rig.open({ bridge: bridgeOf(async (call) => call.end(`because-${n++}`)) })
    for (let i = 0; i < 5; i++) await rig.post(OFFER)
    rig.sessions.close()
    assert.deepEqual([...rig.sessions.counters.ended], [['bridge_ended', 5]])
    assert.deepEqual(
      rig.ended.map(({ reason }) => reason),
      ['because-0', 'because-1', 'because-2', 'because-3', 'because-4'],
    )
    for (const reason of END_REASONS) assert.match(reason, /^[a-z_]+$/)
  })
})

describe('draining', () => {
  it('takes no new calls and ends with the last', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await rig.sessions.drain(new AbortController().signal)
    await assert.rejects(rig.post(OFFER), refused('draining'))
  })

  it('lets calls go on until the deadline, and tells them then', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.connect()
    const other = await rig.client()
    await rig.post(other.offer)
    const deadline = new AbortController()
    let isDone = false
    const drained = rig.sessions.drain(deadline.signal).then(() => {
      isDone = true
    })
    client.sendEvent({ type: 'still here' })
    assert.deepEqual(await client.events.take(), { type: 'still here' })
    assert.equal(isDone, false)
    deadline.abort()
    assert.deepEqual(await client.events.take(), { type: 'session.ended', reason: 'draining' })
    assert.equal(await client.ended, 'close_notify')
    await drained
    await rig.untilIdle()
    await other.vanish()
  })

  it('does not wait for calls that end before it, nor for one whose client never came', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    const { url } = await rig.post(OFFER)
    const drained = rig.sessions.drain(new AbortController().signal)
    rig.sessions.hangUp(url!, rig.caller)
    await drained
    await using second = await Rig.open({ bridge: bridgeOf(async () => {}) })
    await second.post(OFFER)
    await second.sessions.drain(AbortSignal.abort())
    assert.equal(second.sessions.size, 0)
  })
})

describe('two clients', () => {
  it('one after the other from the same address both get through', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    const bind = address('198.51.100.7:50000')
    const first = await rig.connect({ bind })
    await first.vanish()
    assert.equal(rig.sessions.size, 1)
    await using second = await rig.connect({ bind })
    second.sendEvent({ n: 2 })
    assert.deepEqual(await second.events.take(), { n: 2 })
    assert.equal(rig.sessions.size, 2)
  })

  it('at once, each with its own conversation', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    const clients = await Promise.all(Array.from({ length: 8 }, () => rig.connect()))
    for (const [n, client] of clients.entries()) client.sendEvent({ n })
    for (const [n, client] of clients.entries()) assert.deepEqual(await client.events.take(), { n })
    for (const client of clients) await client.close()
    await rig.untilIdle()
    assert.equal(rig.sessions.counters.started, 8)
  })
})

describe('housekeeping', () => {
  it('ends what does not connect in time, and what lasts too long', async () => {
    await using rig = await Rig.open({ bridge: loopback, connectMs: 5000, maxCallMs: 60_000 })
    await rig.post(OFFER)
    const { session } = rig
    session.housekeep(session.startedAt + 5000)
    assert.equal(rig.sessions.size, 1)
    session.housekeep(session.startedAt + 5001)
    assert.equal(rig.sessions.size, 0)
    await using client = await rig.connect()
    const connected = rig.session
    connected.housekeep(connected.startedAt + 60_000)
    assert.equal(client.events.length, 0)
    connected.housekeep(connected.startedAt + 60_001)
    assert.deepEqual(await client.events.take(), { type: 'session.ended', reason: 'max_call_duration' })
    await rig.untilIdle()
    assert.deepEqual(
      rig.ended.map(({ reason, fault }) => [reason, fault?.code]),
      [
        ['connect_timeout', 'connect_timeout'],
        ['max_call_duration', undefined],
      ],
    )
  })

  it('sends a report each second', async () => {
    await using rig = await Rig.open({ bridge: loopback })
    await using client = await rig.connect()
    const [first, second] = await client.rtcp.takeMany(2)
    assert.equal(first?.[1], 201)
    assert.equal(second?.[1], 201)
  })
})
