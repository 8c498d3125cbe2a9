import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Prng } from '../../../../../core/testing/prng.ts'
import { OpusDecoder } from '../../../../../plugins/transceiver/media/opus.ts'
import { MediaRig, type Sent } from './media-rig.ts'
import { pcm, power, tone } from './signals.ts'
import { voice } from './voice.ts'

const silk20 = (n: number): Uint8Array => Uint8Array.of(8, n)

/** How many times a packet lies elsewhere than 20 ms behind the one before. */
function gaps(sent: readonly Sent[]): number {
  return sent.filter(({ timestamp }, i) => i > 0 && (timestamp - sent[i - 1]!.timestamp) >>> 0 !== 960).length
}

const markers = (rig: MediaRig): number => rig.sent.filter(({ marker }) => marker).length

function started(...given: ConstructorParameters<typeof MediaRig>): MediaRig {
  const rig = new MediaRig(...given)
  rig.session.start()
  return rig
}

describe('pacing', () => {
  test('makes no gap in ten minutes that come in bursts of 2 s', { timeout: 60_000 }, () => {
    const random = new Prng(11)
    const rig = started('opus')
    const BURST_MS = 2000
    for (let at = 0; at < 600_000; at += BURST_MS) {
      // The first burst is early by what the later ones may be late.
      const late = at === 0 ? 0 : random.below(1900)
      rig.time.after(at === 0 ? 0 : at - BURST_MS + late, () => {
        for (let n = 0; n < BURST_MS / 20; n++)
          void rig.session.play({ data: silk20(n), durationMs: 20 }, 'a')
      })
    }
    rig.time.advance(610_000)
    assert.equal(rig.sent.length, 30_000)
    assert.deepEqual([gaps(rig.sent), markers(rig)], [0, 1])
    const drift = rig.sent.at(-1)!.at - rig.sent[0]!.at - 20 * 29_999
    assert.ok(Math.abs(drift) < 20, `the clock drifted by ${drift} ms`)
    assert.equal(rig.time.pending, 0)
  })

  test('voice 32: learns a cushion from frames that come late, and makes no gaps from then on', () => {
    const random = new Prng(7)
    for (let round = 0; round < 20; round++) {
      const rig = started('opus')
      const offset = random.below(20)
      for (let n = 0; n < 1000; n++)
        rig.time.after(
          offset + 20 * n + random.below(40),
          () => void rig.session.play({ data: silk20(n), durationMs: 20 }, 'a'),
        )
      rig.time.advance(25_000)
      assert.equal(rig.sent.length, 1000)
      assert.ok(gaps(rig.sent) <= 4, `${gaps(rig.sent)} gaps`)
      assert.equal(gaps(rig.sent.slice(500)), 0)
      assert.equal(markers(rig), 1 + gaps(rig.sent), 'a marker is for a talkspurt’s start')
    }
  })

  test('joins frames of 33 ms in real time without silence in between', () => {
    const rig = started({ pcm16: 16000 })
    const samples = pcm(tone(16000, 440, 0, 16000))
    for (let n = 0; 2 * 528 * n < samples.length; n++) {
      const data = samples.subarray(2 * 528 * n, 2 * 528 * (n + 1))
      rig.time.after(7 + 33 * n, () => void rig.session.play({ data, durationMs: data.length / 32 }, 'a'))
    }
    rig.time.advance(2000)
    assert.ok(rig.sent.length <= 52, 'more than a millisecond of silence was put in')
    assert.deepEqual([gaps(rig.sent), markers(rig)], [0, 1])
    const heard = decode(rig.sent, 16000)
    for (let at = 3200; at + 320 < 16000; at += 160)
      assert.ok(power(heard.subarray(2 * at, 2 * at + 320)) > 1e7, `silence at ${at / 16} ms`)
  })

  test('leaves silence out, shows it in timestamps alone, and marks where sound begins again', () => {
    const rig = started({ pcm16: 24000 })
    const sound = pcm(voice(24000, 1, false))
    const silence = new Uint8Array(2 * 24000 * 2)
    for (const data of [sound, silence, sound])
      void rig.session.play({ data, durationMs: data.length / 48 }, 'a')
    rig.time.advance(5000)
    assert.ok(rig.sent.length < 135 && rig.sent.length > 110, `${rig.sent.length} packets for 2 s of sound`)
    assert.deepEqual(
      rig.sent.map(({ sequence }) => sequence),
      rig.sent.map((_, n) => (rig.sent[0]!.sequence + n) & 0xffff),
      'a hole would be taken for loss',
    )
    const marked = rig.sent.filter(({ marker }) => marker)
    assert.deepEqual(
      marked.map(({ timestamp }) => ((timestamp - rig.sent[0]!.timestamp) >>> 0) / 48),
      [0, 3000],
    )
    assert.deepEqual(rig.session.flush(), [{ tag: 'a', playedMs: 4000 }])
    const spurts = rig.sent.filter(({ payload }) => payload.length <= 2)
    assert.ok(spurts.length >= 1, 'the receiver is not told that silence begins')
  })
})

/** What a receiver that loses nothing hears of packets that follow each other. */
function decode(sent: readonly Sent[], rate: 16000 | 24000): Buffer {
  const decoder = new OpusDecoder(rate)
  const parts = sent.map(({ payload }) => decoder.decode(payload, 0, payload.length)!)
  decoder.close()
  return Buffer.concat(parts)
}

describe('a flush', () => {
  const RATE = 16000
  const play = (rig: MediaRig, ms: number, tag: string): void =>
    void rig.session.play({ data: pcm(tone(RATE, 440, 0, (RATE / 1000) * ms)), durationMs: ms }, tag)

  test('tells to the millisecond what the caller hears, the encoder’s look-ahead too', () => {
    for (const after of [10, 90, 230, 415]) {
      const rig = started({ pcm16: RATE })
      play(rig, 1000, 'a')
      rig.time.advance(after)
      const [played] = rig.session.flush()
      rig.time.advance(1000)
      const heard = decode(rig.sent, RATE)
      let end = heard.length - 2
      while (end > 0 && Math.abs(heard.readInt16LE(end)) < 1000) end -= 2
      // The look-ahead of 6.5 ms delays the sound by as much; the tone's last sample may be a quiet one.
      const heardMs = end / 2 / (RATE / 1000) - 6.5
      assert.ok(Math.abs(heardMs - played!.playedMs) < 3, `${heardMs} ms were heard, not ${played!.playedMs}`)
      assert.equal(rig.time.pending, 0)
      rig.session.close()
    }
  })

  test('of nothing, or before the first frame has left, finds nothing played', () => {
    const rig = started({ pcm16: RATE })
    assert.deepEqual(rig.session.flush(), [])
    const waiting = new MediaRig({ pcm16: RATE })
    play(waiting, 100, 'a')
    assert.deepEqual(waiting.session.flush(), [{ tag: 'a', playedMs: 0 }])
    waiting.session.start()
    waiting.time.advance(1000)
    assert.deepEqual([waiting.sent, waiting.session.flush(), waiting.session.queuedMs], [[], [], 0])
  })

  test('is followed at once by what is played next, of the same tag too, which counts anew', () => {
    const rig = started({ pcm16: RATE })
    play(rig, 500, 'a')
    rig.time.advance(130)
    const before = rig.sent.length
    assert.deepEqual(rig.session.flush(), [{ tag: 'a', playedMs: 140 }])
    play(rig, 60, 'a')
    rig.time.advance(20)
    assert.equal(rig.sent.length, before + 1, 'the next answer waited')
    rig.time.advance(1000)
    assert.deepEqual([gaps(rig.sent), markers(rig)], [0, 1])
    assert.deepEqual(rig.session.flush(), [{ tag: 'a', playedMs: 60 }])
  })

  test('gives what comes next its own cushion, though the talkspurt was not over', () => {
    const rig = started('opus')
    const play = (): void => void rig.session.play({ data: silk20(1), durationMs: 20 }, 'a')
    play()
    rig.time.advance(55)
    play()
    rig.time.advance(1000)
    for (let n = 0; n < 5; n++) play()
    rig.time.advance(30)
    rig.session.flush()
    const before = rig.sent.length
    play()
    rig.time.advance(25)
    assert.equal(rig.sent.length, before, 'it left without the cushion that late frames had taught')
    rig.time.advance(60)
    assert.equal(rig.sent.length, before + 1)
  })

  test('while a cushion was waited for leaves the next answer its own', () => {
    const rig = started('opus')
    const play = (): void => void rig.session.play({ data: silk20(1), durationMs: 20 }, 'a')
    // It learns that frames come 30 ms late.
    for (let n = 0; n < 3; n++) {
      play()
      rig.time.advance(50)
    }
    rig.time.advance(1000)
    rig.sent.length = 0
    play()
    assert.equal(rig.sent.length, 0, 'there is no cushion')
    rig.session.flush()
    rig.time.advance(1000)
    play()
    assert.equal(rig.sent.length, 0, 'it left without one')
    rig.time.advance(100)
    assert.equal(rig.sent.length, 1)
  })

  test('does not take the wait for the next answer for an underrun', () => {
    const rig = started('opus')
    for (let n = 0; n < 50; n++) {
      void rig.session.play({ data: silk20(n), durationMs: 20 }, 'a')
      void rig.session.play({ data: silk20(n), durationMs: 20 }, 'a')
      rig.time.advance(35)
      rig.session.flush()
      rig.time.advance(100)
    }
    for (let n = 0; n < 10; n++) {
      void rig.session.play({ data: silk20(n), durationMs: 20 }, `answer ${n}`)
      rig.time.advance(100)
    }
    rig.time.advance(1000)
    const before = rig.sent.length
    void rig.session.play({ data: silk20(1), durationMs: 20 }, 'b')
    assert.equal(rig.sent.length, before + 1, 'there is a cushion, though nothing was late')
  })
})
