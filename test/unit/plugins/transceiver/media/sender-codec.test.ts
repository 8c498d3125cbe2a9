import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type OpusSettings, VOICE } from '../../../../../plugins/transceiver/media/opus-encoder.ts'
import { ReportBlock, writeReceiverReport } from '../../../../../plugins/transceiver/media/rtcp.ts'
import { AUDIO, MediaRig } from './media-rig.ts'
import { pcm } from './signals.ts'
import { voice } from './voice.ts'

const RATE = 16000
const SECOND = pcm(voice(RATE, 1, false))

/** A second of speech, and what was sent of it. */
function speak(rig: MediaRig): Buffer[] {
  rig.sent.length = 0
  void rig.session.play({ data: SECOND, durationMs: 1000 })
  rig.time.advance(1100)
  return rig.sent.map(({ payload }) => payload)
}

/** RFC 6716 §4.2.4: behind a mono SILK frame's voice activity bit comes the one that says whether FEC follows. */
const withFec = (packets: readonly Buffer[]): number =>
  packets.filter((packet) => packet[0]! >> 3 < 16 && (packet[1]! & 0x40) !== 0).length

function report(rig: MediaRig, fractionLost: number, about = 0xcafe): void {
  const block = new ReportBlock()
  block.ssrc = about
  block.fractionLost = fractionLost
  const bytes = Buffer.alloc(64)
  rig.receiveRtcp(bytes.subarray(0, writeReceiverReport(bytes, 0, 7, block)))
}

function started(opus: Partial<OpusSettings> = {}): MediaRig {
  const rig = new MediaRig({ pcm16: RATE }, AUDIO, { ...VOICE, ...opus })
  rig.session.start()
  return rig
}

describe('encoding', () => {
  test('follows the client’s reports with FEC: all of it at once, less as loss is long ago', () => {
    const rig = started({ bitrate: 20_000 })
    speak(rig)
    for (let n = 0; n < 15; n++) report(rig, 0)
    assert.equal(withFec(speak(rig)), 0, 'nothing is lost, and FEC is paid for')
    report(rig, 51, 0xbeef)
    assert.equal(withFec(speak(rig)), 0, 'that report was about another')
    report(rig, 51)
    const much = withFec(speak(rig))
    assert.ok(much > 20, `20% are lost, and ${much} of 50 packets carry the one before`)
    report(rig, 0)
    assert.ok(withFec(speak(rig)) > 0, 'forgotten with the first good report')
    rig.session.close()
  })

  test('begins with what was reported before there was anything to encode', () => {
    const rig = started({ bitrate: 20_000 })
    report(rig, 51)
    assert.ok(withFec(speak(rig)) > 20)
    rig.session.close()
  })

  test('keeps to the operator’s bitrate, and sends silence where DTX is off', () => {
    const bytes = (packets: readonly Buffer[]): number => packets.reduce((sum, { length }) => sum + length, 0)
    const [low, high] = [started({ bitrate: 8000 }), started({ bitrate: 48_000 })]
    assert.ok(bytes(speak(high)) > 3 * bytes(speak(low)))
    const spending = started({ dtx: false })
    void spending.session.play({ data: new Uint8Array(2 * RATE), durationMs: 1000 })
    spending.time.advance(1100)
    assert.equal(spending.sent.length, 51)
    for (const rig of [low, high, spending]) rig.session.close()
  })

  test('gives samples that were late by less than a packet a cushion', () => {
    const rig = started()
    const part = (ms: number): void =>
      void rig.session.play({ data: SECOND.subarray(0, 32 * ms), durationMs: ms }, 'a')
    // 30 ms at 0, the next at 38: 10 ms of the second packet had to leave by 25, with silence behind them.
    part(30)
    rig.time.advance(41)
    part(40)
    rig.time.advance(1000)
    rig.sent.length = 0
    part(20)
    assert.equal(rig.sent.length, 0, 'there is no cushion')
    rig.time.advance(100)
    assert.ok(rig.sent.length > 0)
    rig.session.close()
  })
})
