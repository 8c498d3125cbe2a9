import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type OpusEncoder,
  type OpusSettings,
  openEncoder,
  VOICE,
} from '../../../../../plugins/transceiver/media/opus-encoder.ts'
import { nativeOpus } from '../../../../../plugins/transceiver/media/opus-library.ts'
import { MAX_OPUS_PACKET } from '../../../../../plugins/transceiver/media/opus-packet.ts'
import { pcm, tone } from './signals.ts'
import { voice } from './voice.ts'

const RATE = 24000
const FRAME = RATE / 50
const into = new Uint8Array(MAX_OPUS_PACKET)
const speech = pcm(voice(RATE, 2))

/** The lengths of the packets of two seconds of speech, or of silence. */
function lengths(encoder: OpusEncoder, samples: Uint8Array = speech): number[] {
  const all: number[] = []
  for (let at = 0; at + 2 * FRAME <= samples.length; at += 2 * FRAME)
    all.push(encoder.encode(samples.subarray(at, at + 2 * FRAME), into, 0))
  return all
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0)

for (const portable of nativeOpus() ? [false, true] : [true]) {
  const open = (settings: Partial<OpusSettings> = {}): OpusEncoder =>
    openEncoder(RATE, { ...VOICE, ...settings }, portable)

  describe(`the ${portable ? 'portable' : 'native'} encoder`, () => {
    test('keeps to its bitrate', () => {
      for (const bitrate of [12_000, 32_000, 64_000]) {
        const encoder = open({ bitrate, dtx: false })
        const measured = (sum(lengths(encoder)) * 8) / 2
        encoder.close()
        assert.ok(measured > bitrate * 0.6 && measured < bitrate * 1.3, `${measured} b/s for ${bitrate}`)
      }
    })

    test('takes complexity and settings anew when an encoder is used again', () => {
      const bytes = (complexity: number): string => {
        const encoder = open({ complexity })
        const length = lengths(encoder).at(-1)!
        const packet = Buffer.from(into.subarray(0, length)).toString('hex')
        encoder.close()
        return packet
      }
      const simple = bytes(0)
      assert.notEqual(bytes(10), simple)
      assert.equal(bytes(0), simple)
    })

    test('leaves silence out with DTX, says so, and not without', () => {
      const silence = new Uint8Array(2 * RATE * 2)
      const saving = open()
      const short = lengths(saving, silence).filter((length) => length <= 2).length
      assert.ok(short > 75 && saving.isInDtx, `${short} of 100 packets need not be sent`)
      lengths(saving)
      assert.equal(saving.isInDtx, false)
      saving.close()
      assert.equal(saving.isInDtx, false)
      const spending = open({ dtx: false })
      assert.ok(lengths(spending, silence).every((length) => length > 2))
      spending.close()
    })

    test('takes neither a tone nor the quietest sound that counts for silence', () => {
      const encoder = open()
      assert.ok(lengths(encoder, pcm(tone(RATE, 440, 0, 2 * RATE))).every((length) => length > 2))
      encoder.close()
      for (const [level, expected] of [
        [31, true],
        [-31, true],
        [32, false],
        [-32, false],
      ] as const) {
        const quiet = open()
        const samples = new Float64Array(RATE)
        for (let i = 0; i < samples.length; i += 11) samples[i] = level
        lengths(quiet, pcm(samples))
        assert.equal(quiet.isInDtx, expected, `a peak of ${level}`)
        quiet.close()
      }
    })

    test('spends on FEC what the expected loss is worth', () => {
      const packets = (settings: Partial<OpusSettings>, loss: number): Buffer[] => {
        const encoder = open({ bitrate: 24_000, ...settings })
        encoder.expectLoss(loss)
        const all: Buffer[] = []
        for (let at = 0; at + 2 * FRAME <= speech.length; at += 2 * FRAME) {
          const length = encoder.encode(speech.subarray(at, at + 2 * FRAME), into, 0)
          all.push(Buffer.from(into.subarray(0, length)))
        }
        encoder.close()
        return all
      }
      assert.ok(packets({}, 20).filter(carriesFec).length > 30)
      assert.equal(packets({}, 0).filter(carriesFec).length, 0)
      assert.equal(packets({ fec: false }, 20).filter(carriesFec).length, 0)
    })
  })
}

/** RFC 6716 §4.2.4: behind a mono SILK frame's voice activity bit comes the one that says whether FEC follows. */
function carriesFec(packet: Buffer): boolean {
  return packet.length > 1 && packet[0]! >> 3 < 16 && (packet[1]! & 0x40) !== 0
}
