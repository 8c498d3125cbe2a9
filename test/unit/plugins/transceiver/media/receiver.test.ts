import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Prng } from '../../../../../core/testing/prng.ts'
import { opusCounters } from '../../../../../plugins/transceiver/media/opus.ts'
import { openEncoder } from '../../../../../plugins/transceiver/media/opus-encoder.ts'
import { AUDIO, MediaRig } from './media-rig.ts'
import { pcm, power, tone, toneShare } from './signals.ts'

const silk20 = (n: number): Uint8Array => Uint8Array.of(8, n)

/** Second bytes of the frames, which tell the packets apart, and where they lie. */
function heard(rig: MediaRig): [number, number][] {
  return rig.frames.map(({ data, timestampMs }) => [data[1]!, timestampMs!])
}

/** 20 ms packets of a tone. */
function tonePackets(count: number): Uint8Array[] {
  const encoder = openEncoder(16000)
  const into = new Uint8Array(1300)
  const packets = Array.from({ length: count }, (_, i) =>
    into.slice(0, encoder.encode(pcm(tone(16000, 440, i * 320, 320)), into, 0)),
  )
  encoder.close()
  return packets
}

describe('receiving', () => {
  test('hands Opus on untouched, with its duration and place, across every wrap', () => {
    const rig = new MediaRig('opus')
    const packets = [silk20(1), Uint8Array.of(24, 2, 9, 9), Uint8Array.of(0x0b, 2, 3), silk20(4)]
    let timestamp = 2 ** 32 - 960
    for (const [i, packet] of packets.entries()) {
      rig.receive(65534 + i, timestamp, packet)
      timestamp += [960, 2880, 1920, 960][i]!
    }
    assert.deepEqual(
      rig.frames.map(({ data }) => data),
      packets,
    )
    assert.deepEqual(
      rig.frames.map(({ durationMs }) => durationMs),
      [20, 60, 40, 20],
    )
    assert.deepEqual(
      rig.frames.map(({ timestampMs }) => timestampMs),
      [0, 20, 80, 120],
    )
    assert.equal(rig.session.stats.packetsReceived, 4)
    assert.equal(rig.session.stats.octetsReceived, 11)
  })

  test('takes whoever sends the agreed payload type, and nobody else', () => {
    const rig = new MediaRig('opus')
    rig.receive(1, 0, silk20(1), { ssrc: 99, payloadType: 96 })
    rig.receive(1, 0, silk20(2), { ssrc: 42 })
    assert.deepEqual(heard(rig), [[2, 0]])
    assert.deepEqual([rig.session.stats.wrongPayloadType, rig.session.stats.remoteSsrc], [1, 42])
  })

  test('takes a packet of another payload type for no hole', () => {
    const rig = new MediaRig('opus')
    for (let n = 0; n < 30; n++) {
      rig.receive(n, n * 960, silk20(n), n % 3 === 1 ? { payloadType: 13 } : {})
      rig.time.advance(20)
      assert.equal(rig.frames.length, n + 1 - Math.floor((n + 2) / 3), 'it was waited for')
    }
    assert.deepEqual([rig.session.stats.wrongPayloadType, rig.session.stats.lost], [10, 0])
    rig.session.close()
  })

  test('follows a source that changes, and the time line goes on', () => {
    const rig = new MediaRig('opus')
    for (let n = 0; n < 3; n++) {
      rig.receive(100 + n, 5000 + 960 * n, silk20(n), { ssrc: 1 })
      rig.time.advance(20)
    }
    rig.time.advance(80)
    rig.receive(60000, 123456, silk20(10), { ssrc: 2 })
    rig.receive(103, 5000 + 2880, silk20(3), { ssrc: 1 })
    rig.receive(60001, 123456 + 960, silk20(11), { ssrc: 2 })
    assert.deepEqual(heard(rig), [
      [0, 0],
      [1, 20],
      [2, 40],
      [10, 140],
      [11, 160],
    ])
    assert.deepEqual(
      [rig.session.stats.oldSource, rig.session.stats.remoteSsrc, rig.session.stats.lost],
      [1, 2, 0],
    )
    rig.time.advance(1000)
    rig.receive(104, 5000 + 50_000, silk20(4), { ssrc: 1 })
    assert.equal(rig.session.stats.remoteSsrc, 1, 'the first came back for good')
  })

  test('waits for what is missing, by itself, and not for ever', () => {
    const rig = new MediaRig('opus')
    rig.receive(1, 0, silk20(1))
    rig.receive(3, 1920, silk20(3))
    assert.equal(rig.frames.length, 1)
    assert.equal(rig.time.pending, 1)
    rig.time.advance(80)
    assert.deepEqual(heard(rig), [
      [1, 0],
      [3, 40],
    ])
    assert.equal(rig.time.pending, 0)
    rig.receive(2, 960, silk20(2))
    assert.deepEqual([rig.frames.length, rig.session.stats.late], [2, 1])
  })

  test('makes up what was lost, in PCM', () => {
    const rig = new MediaRig({ pcm16: 16000 })
    const packets = tonePackets(30)
    for (const [i, packet] of packets.entries()) {
      if (i !== 20) rig.receive(i, 960 * i, packet)
      rig.time.advance(20)
    }
    rig.time.advance(100)
    assert.equal(
      rig.frames.reduce((sum, { durationMs }) => sum + durationMs, 0),
      600,
    )
    assert.deepEqual(
      rig.frames.map(({ timestampMs }) => timestampMs),
      rig.frames.map((_, i) => 20 * i),
    )
    assert.ok(rig.frames.every(({ data }) => data.length === 640))
    assert.ok(power(rig.frames[20]!.data) > 1e6, 'silence in place of what was lost')
    assert.ok(toneShare(Buffer.concat(rig.frames.slice(10).map(({ data }) => data)), 16000, 440) > 0.9)
    assert.deepEqual([rig.session.stats.concealedMs, rig.session.stats.lost], [20, 1])
    rig.session.close()
    assert.equal(opusCounters.decoders, 0)
  })

  test('shows long silence and long outages in the time line only', () => {
    const rig = new MediaRig({ pcm16: 16000 })
    const [one, two, three] = tonePackets(3)
    rig.receive(1, 0, one!)
    rig.time.advance(60_000)
    rig.receive(2, 48 * 60_000, two!)
    rig.time.advance(4000)
    rig.receive(202, 48 * 64_000, three!)
    assert.equal(rig.frames.at(-1)!.timestampMs, 64_000)
    const total = rig.frames.reduce((sum, { durationMs }) => sum + durationMs, 0)
    assert.ok(total <= 3 * 20 + 480 + 480, `${total} ms were made up`)
    let end = 0
    for (const { timestampMs, durationMs } of rig.frames) {
      assert.ok(timestampMs! >= end, 'frames overlap')
      end = timestampMs! + durationMs
    }
    rig.session.close()
  })

  test('says each telephone event once, and takes it for no loss of audio', () => {
    const rig = new MediaRig('opus')
    const dtmf = { payloadType: 110 }
    rig.receive(1, 0, silk20(1))
    for (let n = 0; n < 5; n++) {
      const end = n > 1 ? 0x8a : 0x0a
      rig.receive(2 + n, 960, Uint8Array.of(5, end, 0x12, 0xc0), { ...dtmf, marker: n === 0 })
    }
    rig.receive(7, 960 + 4800, silk20(2))
    assert.deepEqual(rig.digits, ['5 100'])
    assert.deepEqual(
      [heard(rig), rig.session.stats.lost],
      [
        [
          [1, 0],
          [2, 120],
        ],
        0,
      ],
    )
  })

  test('says an event whose end was lost, by itself and soon', () => {
    const rig = new MediaRig('opus')
    rig.receive(1, 0, Uint8Array.of(3, 10, 0x12, 0xc0), { payloadType: 110, marker: true })
    rig.time.advance(300)
    assert.deepEqual([rig.digits, rig.time.pending], [['3 100'], 0])
  })

  test('says the events of a source that begins anew, whatever its timestamps', () => {
    const rig = new MediaRig('opus')
    const dtmf = { payloadType: 110, marker: true }
    rig.receive(1, 2 ** 31, Uint8Array.of(1, 0x8a, 0x12, 0xc0), dtmf)
    rig.receive(40_000, 960, silk20(1))
    rig.receive(40_001, 1920, Uint8Array.of(2, 0x8a, 0x12, 0xc0), dtmf)
    rig.receive(40_002, 2880, Uint8Array.of(2, 0x8a, 0x12, 0xc0), dtmf)
    assert.deepEqual(rig.digits, ['1 100', '2 100', '2 100'])
  })

  test('passes over padding and what is no Opus, and makes no gap of them', () => {
    const rig = new MediaRig('opus')
    rig.receive(1, 0, silk20(1))
    rig.receive(2, 960, new Uint8Array(0))
    rig.receive(3, 960, Uint8Array.of(0x0b))
    rig.receive(4, 960, silk20(4))
    assert.deepEqual(heard(rig), [
      [1, 0],
      [4, 20],
    ])
    assert.equal(rig.session.stats.malformed, 1)
  })

  test('throws at nothing and holds the line, whatever comes', () => {
    const random = new Prng(9)
    for (const format of ['opus', { pcm16: 8000 }] as const) {
      const rig = new MediaRig(format, { ...AUDIO, telephoneEvents: [110, 126] })
      for (let i = 0; i < 5000; i++) {
        const payload = random.bytes(random.below(40))
        const ssrc = random.below(50) === 0 ? random.below(3) : 1
        const sequence = random.below(30) === 0 ? random.below(65536) : i
        const timestamp = random.below(30) === 0 ? random.below(2 ** 31) * 2 : 960 * i
        rig.receive(sequence, timestamp, payload, {
          ssrc,
          payloadType: [111, 111, 110, 126, 5][random.below(5)]!,
        })
        rig.session.receiveRtcp(rig.time.now(), random.bytes(28), 0, 28)
        rig.time.advance(5)
      }
      let end = 0
      for (const { data, timestampMs, durationMs } of rig.frames) {
        assert.ok(data.length > 0 && durationMs > 0 && durationMs <= 120)
        assert.ok(timestampMs! >= end, 'the time line went back')
        end = timestampMs! + durationMs
      }
      rig.session.close()
      assert.deepEqual([rig.clock.size, opusCounters.decoders], [0, 0])
    }
  })
})
