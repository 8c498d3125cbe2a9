import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openEncoder, VOICE } from '../../../../../plugins/transceiver/media/opus-encoder.ts'
import { MediaRig } from './media-rig.ts'
import { pcm, power } from './signals.ts'
import { voice } from './voice.ts'

/** What a sender in DTX says of its silence. */
const SILENT = Uint8Array.of(0x48)

/** 20 ms packets of speech. */
function speech(count: number): Uint8Array[] {
  const encoder = openEncoder(16000, VOICE)
  const samples = pcm(voice(16000, count / 50, false))
  const into = new Uint8Array(1300)
  const packets = Array.from({ length: count }, (_, i) =>
    into.slice(0, encoder.encode(samples.subarray(640 * i, 640 * (i + 1)), into, 0)),
  )
  encoder.close()
  return packets
}

/** A caller who has spoken for a second, and what the bridge has heard since. */
class Caller {
  readonly rig = new MediaRig({ pcm16: 16000 })
  readonly packets = speech(60)
  sequence = 0
  /** Of the caller's clock, in ms. */
  at = 0

  speak(count = 50): void {
    for (let i = 0; i < count; i++) {
      this.send(this.packets[i % 60]!)
      this.pass(20)
    }
  }

  send(payload: Uint8Array): void {
    this.rig.receive(this.sequence++, this.at * 48, payload)
  }

  pass(ms: number): void {
    this.at += ms
    this.rig.time.advance(ms)
  }

  /** How much the bridge has heard. */
  get heardMs(): number {
    return this.rig.frames.reduce((sum, { durationMs }) => sum + durationMs, 0)
  }

  /** The frames lie end to end, of the right length, from the beginning. */
  check(): void {
    let end = 0
    for (const { timestampMs, durationMs, data } of this.rig.frames) {
      assert.ok(
        Math.abs(timestampMs! - end) < 1e-6,
        `a frame at ${timestampMs} follows one that ends at ${end}`,
      )
      assert.equal(data.length, durationMs * 32)
      end += durationMs
    }
  }

  [Symbol.dispose](): void {
    this.rig.session.close()
  }
}

describe('DTX', () => {
  test('is heard as silence while it lasts, not when the next packet comes', () => {
    using caller = new Caller()
    caller.speak()
    caller.send(SILENT)
    for (let ms = 20; ms <= 380; ms += 20) {
      caller.pass(20)
      const behind = 1020 + ms - 20 - caller.heardMs
      assert.ok(behind >= 0 && behind <= 80, `after ${ms} ms of silence the bridge is ${behind} ms behind`)
    }
    const last = caller.rig.frames.at(-1)!
    assert.ok(power(last.data) < 1e5, 'it is no silence')
    caller.check()
    assert.equal(caller.rig.session.stats.concealedMs, 0)
  })

  test('goes on over signs of life, and the line is exact when the caller speaks again', () => {
    using caller = new Caller()
    caller.speak()
    caller.send(SILENT)
    for (let i = 0; i < 8; i++) {
      caller.pass(400)
      const behind = caller.at - caller.heardMs
      assert.ok(behind <= 80, `${behind} ms of silence were not heard as they passed`)
      // Once as browsers send them, once alone, as others do.
      caller.send(caller.packets[0]!)
      if (i % 2 === 1) continue
      caller.pass(20)
      caller.send(SILENT)
    }
    caller.pass(400)
    caller.speak()
    caller.check()
    assert.equal(caller.heardMs, caller.at)
    assert.deepEqual([caller.rig.session.stats.concealedMs, caller.rig.session.stats.lost], [0, 0])
  })

  test('is believed for 1.2 s without a sign of life, and not on and on', () => {
    using caller = new Caller()
    caller.speak()
    caller.send(SILENT)
    caller.pass(5000)
    assert.equal(caller.heardMs, 1000 + 20 + 1200)
    assert.equal(caller.rig.time.pending, 0, 'the clock runs for a call that is silent')
    caller.speak(1)
    assert.equal(caller.rig.frames.at(-1)!.timestampMs, 6000)
  })

  test('is no dead network: nothing is made up after sound until a packet comes', () => {
    using caller = new Caller()
    caller.speak()
    caller.pass(3000)
    assert.deepEqual([caller.heardMs, caller.rig.time.pending], [1000, 0])
    // 100 packets were lost, and muted callers send none: it may have been either.
    caller.sequence += 100
    caller.speak(1)
    assert.equal(caller.rig.session.stats.concealedMs, 480)
    assert.equal(caller.rig.frames.at(-1)!.timestampMs, 4000)
  })

  test('is over at the first packet of sound, and packets late by jitter do not make the line longer', () => {
    using caller = new Caller()
    caller.speak()
    for (let turn = 0; turn < 20; turn++) {
      caller.send(SILENT)
      caller.pass(300)
      // The network holds everything up: the clock has filled in more than the caller was silent.
      caller.rig.time.advance(90)
      caller.speak(10)
      caller.rig.time.advance(10)
    }
    caller.check()
    const ahead = caller.heardMs - caller.at
    assert.ok(ahead <= 90 && ahead >= -20, `${ahead} ms more than was said`)
  })

  test('does not hide loss: what was lost before sound is made up from it, silence is not', () => {
    using caller = new Caller()
    caller.speak()
    caller.send(SILENT)
    caller.pass(300)
    // The first packet of the next word is lost.
    caller.sequence++
    caller.pass(20)
    caller.send(caller.packets[1]!)
    caller.pass(20)
    caller.send(caller.packets[2]!)
    caller.pass(200)
    caller.send(caller.packets[3]!)
    assert.equal(caller.rig.session.stats.concealedMs, 20)
    assert.equal(caller.rig.session.stats.lost, 1)
    caller.check()
  })

  test('is not filled in for a bridge that takes Opus: its packets are untouched', () => {
    const rig = new MediaRig('opus')
    rig.receive(1, 0, SILENT)
    rig.time.advance(1000)
    rig.receive(2, 48 * 1000, SILENT)
    assert.deepEqual(
      rig.frames.map(({ timestampMs, durationMs }) => [timestampMs, durationMs]),
      [
        [0, 20],
        [1000, 20],
      ],
    )
    assert.equal(rig.time.pending, 0)
  })

  test('does not hide what was said while the process was busy: what waits to be read is read first', () => {
    using caller = new Caller()
    caller.speak()
    caller.send(SILENT)
    caller.pass(100)
    const before = caller.heardMs
    caller.rig.time.stall(2000)
    caller.rig.time.advance(0)
    const filled = caller.heardMs - before
    assert.ok(filled <= 200, `${filled} ms of silence lie before what was said`)
    caller.speak(5)
    caller.check()
  })
})
