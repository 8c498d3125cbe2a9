import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OpusDecoder, opusCounters } from '../../../../../plugins/transceiver/media/opus.ts'
import { AUDIO, INITIAL, MediaRig } from './media-rig.ts'
import { pcm, power, tone, toneShare } from './signals.ts'

/** SILK packets of 20, 40 and 60 ms, CELT of 10 ms, told apart by their second byte. */
const silk20 = (n: number): Uint8Array => Uint8Array.of(8, n)
const silk60 = (n: number): Uint8Array => Uint8Array.of(24, n)
const celt10 = (n: number): Uint8Array => Uint8Array.of(0x90, n)

function play(rig: MediaRig, ...packets: Uint8Array[]): void {
  for (const data of packets) void rig.session.play({ data, durationMs: 20 })
}

/** Each packet's place on the caller's time line, in ms since the first. */
function places(rig: MediaRig): number[] {
  return rig.sent.map(({ timestamp }) => ((timestamp - rig.sent[0]!.timestamp) >>> 0) / 48)
}

function started(...given: ConstructorParameters<typeof MediaRig>): MediaRig {
  const rig = new MediaRig(...given)
  rig.session.start()
  return rig
}

describe('sending', () => {
  test('paces packets that come at once, by one a slot, and wraps', () => {
    const rig = started('opus')
    const packets = Array.from({ length: 60 }, (_, n) => silk20(n))
    play(rig, ...packets)
    rig.time.advance(2000)
    assert.deepEqual(
      rig.sent.map(({ payload }) => payload[1]),
      packets.map((packet) => packet[1]),
    )
    assert.deepEqual(
      rig.sent.map(({ at }) => at),
      packets.map((_, n) => 5000 + 20 * n),
    )
    assert.deepEqual(
      rig.sent.map(({ sequence }) => sequence),
      packets.map((_, n) => (INITIAL.sequence + n) & 0xffff),
    )
    assert.deepEqual(
      places(rig),
      packets.map((_, n) => 20 * n),
    )
    assert.equal(rig.sent[0]!.timestamp, INITIAL.timestamp)
    assert.deepEqual(
      rig.sent.map(({ marker }) => marker),
      packets.map((_, n) => n === 0),
    )
    assert.ok(rig.sent.every(({ ssrc, payloadType }) => ssrc === 0xcafe && payloadType === 111))
    assert.equal(rig.time.pending, 0, 'the clock runs on for nobody')
  })

  test('gives long packets their time and short ones their share of a slot', () => {
    const rig = started('opus')
    play(rig, silk60(1), silk20(2), celt10(3), celt10(4), celt10(5), silk20(6), silk60(7))
    rig.time.advance(1000)
    assert.deepEqual(places(rig), [0, 60, 80, 90, 100, 110, 130])
    assert.deepEqual(
      rig.sent.map(({ payload }) => payload[1]),
      [1, 2, 3, 4, 5, 6, 7],
    )
    for (const [i, { at }] of rig.sent.entries()) {
      const early = 5000 + places(rig)[i]! - at
      assert.ok(early >= 0 && early < 20, `packet ${i} left ${early} ms before its slot`)
    }
  })

  test('shows silence in the timestamps, and marks the packet after it', () => {
    const rig = started('opus')
    play(rig, silk20(1), silk20(2), silk20(3))
    rig.time.advance(500)
    play(rig, silk20(4), silk20(5), silk20(6))
    rig.time.advance(500)
    assert.deepEqual(places(rig), [0, 20, 40, 500, 520, 540])
    assert.deepEqual(
      rig.sent.map(({ marker }) => marker),
      [true, false, false, true, false, false],
    )
    assert.deepEqual(
      rig.sent.map(({ sequence }) => sequence),
      [65533, 65534, 65535, 0, 1, 2],
    )
  })

  test('sends a frame that was waited for at once, in the middle of a slot, and the others after it', () => {
    const rig = started('opus')
    rig.time.advance(213)
    play(rig, silk20(1))
    assert.equal(rig.sent.length, 1)
    for (let n = 2; n < 10; n++) {
      rig.time.advance(20)
      play(rig, silk20(n))
      assert.equal(rig.sent.length, n, 'a frame that came in time waited')
    }
    assert.deepEqual(
      places(rig),
      rig.sent.map((_, n) => 20 * n),
    )
    rig.time.advance(1000)
    assert.deepEqual([rig.sent.filter(({ marker }) => marker).length, rig.time.pending], [1, 0])
  })

  test('makes up for a stall of the clock without a gap, even when a frame comes first', () => {
    for (const queued of [0, 5]) {
      const rig = started('opus')
      play(rig, ...Array.from({ length: 1 + queued }, (_, n) => silk20(n)))
      rig.time.stall(97)
      play(rig, silk20(100))
      rig.time.advance(1000)
      assert.equal(rig.sent.length, queued + 2)
      if (queued > 0)
        assert.deepEqual(
          places(rig),
          rig.sent.map((_, n) => 20 * n),
        )
    }
  })

  test('sends nothing before it may, and loses nothing of it', () => {
    const rig = new MediaRig('opus')
    play(rig, silk20(1), silk20(2), silk20(3))
    rig.time.advance(1000)
    assert.deepEqual([rig.sent, rig.session.queuedMs, rig.time.pending], [[], 60, 0])
    rig.session.start()
    rig.time.advance(1000)
    assert.equal(rig.sent.length, 3)
  })

  test('a flush tells what was sent, and nothing of the rest is', () => {
    const rig = started('opus')
    for (const n of [1, 2, 3, 4])
      void rig.session.play({ data: silk20(n), durationMs: 20 }, n < 3 ? 'a' : 'b')
    rig.time.advance(40)
    assert.deepEqual(rig.session.flush(), [
      { tag: 'a', playedMs: 40 },
      { tag: 'b', playedMs: 20 },
    ])
    rig.time.advance(1000)
    assert.equal(rig.sent.length, 3)
    assert.equal(rig.time.pending, 0)
  })

  test('sends nothing to a caller that only sends, in the same time', () => {
    const rig = started('opus', { ...AUDIO, direction: 'sendonly' })
    play(rig, silk20(1), silk20(2), silk20(3))
    rig.time.advance(30)
    assert.equal(rig.session.queuedMs, 20)
    rig.time.advance(1000)
    assert.deepEqual([rig.sent, rig.session.queuedMs, rig.session.stats.packetsSent], [[], 0, 0])
  })

  for (const rate of [8000, 12000, 16000, 24000, 48000] as const) {
    test(`encodes PCM at ${rate} Hz, to the last sample`, () => {
      const rig = started({ pcm16: rate })
      const samples = pcm(tone(rate, 440, 0, rate))
      for (let at = 0; at < samples.length; at += 2 * 777) {
        void rig.session.play({ data: samples.subarray(at, at + 2 * 777), durationMs: 777000 / rate }, 'a')
      }
      rig.time.advance(2000)
      assert.equal(rig.sent.length, 51, '50 slots of tone and one that brings out the encoder’s look-ahead')
      assert.deepEqual(
        places(rig),
        rig.sent.map((_, n) => 20 * n),
      )
      const decoder = new OpusDecoder(rate)
      const decoded = rig.sent.map(({ payload }) => decoder.decode(payload, 0, payload.length)!)
      decoder.close()
      assert.ok(toneShare(Buffer.concat(decoded.slice(10, 49)), rate, 440) > 0.99)
      assert.ok(power(decoded[50]!.subarray(0, rate / 200)) > 1e5, 'the last milliseconds were cut off')
      assert.deepEqual(rig.session.flush(), [{ tag: 'a', playedMs: 1000 }])
      rig.session.close()
      assert.deepEqual([opusCounters.encoders, opusCounters.decoders], [0, 0])
    })
  }

  test('stops for good when it is closed, with a goodbye', async () => {
    const rig = started('opus')
    play(rig, ...Array.from({ length: 30 }, (_, n) => silk20(n)))
    rig.time.advance(100)
    const sent = rig.sent.length
    rig.session.close()
    rig.session.close()
    rig.time.advance(1000)
    await rig.session.play({ data: silk20(1), durationMs: 20 })
    rig.receive(1, 0, silk20(1))
    rig.session.report(rig.time.now())
    assert.deepEqual(
      [rig.sent.length, rig.frames.length, rig.reports.length, rig.time.pending],
      [sent, 0, 1, 0],
    )
    assert.equal(rig.reports[0]!.subarray(-8).toString('hex'), '81cb00010000cafe')
  })
})
