import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OpusDecoder, type OpusRate, opusCounters } from '../../../../../plugins/transceiver/media/opus.ts'
import { openEncoder, VOICE } from '../../../../../plugins/transceiver/media/opus-encoder.ts'
import { nativeOpus, opusLibrary } from '../../../../../plugins/transceiver/media/opus-library.ts'
import { MAX_OPUS_PACKET } from '../../../../../plugins/transceiver/media/opus-packet.ts'
import { pcm, power, tone, toneShare } from './signals.ts'

const RATES: OpusRate[] = [8000, 12000, 16000, 24000, 48000]

/** Encodes frames of a tone, then decodes those that `arrives` lets through; undefined for the others. */
function encodeTone(rate: OpusRate, hertz: number, count: number, portable: boolean): Uint8Array[] {
  const encoder = openEncoder(rate, VOICE, portable)
  const into = new Uint8Array(MAX_OPUS_PACKET + 3)
  const packets: Uint8Array[] = []
  for (let i = 0; i < count; i++) {
    const length = encoder.encode(pcm(tone(rate, hertz, i * (rate / 50), rate / 50)), into, 3)
    assert.ok(length > 2 && length < 200, `${length} bytes`)
    packets.push(into.slice(3, 3 + length))
  }
  encoder.close()
  return packets
}

describe('Opus', () => {
  for (const rate of RATES) {
    for (const portable of nativeOpus() ? [false, true] : [true]) {
      test(`brings a tone back at ${rate} Hz, ${portable ? 'portable' : 'native'}`, () => {
        const decoder = new OpusDecoder(rate)
        const decoded = encodeTone(rate, 440, 50, portable).map((packet) =>
          decoder.decode(packet, 0, packet.length),
        )
        decoder.close()
        assert.ok(decoded.every((frame) => frame?.length === (rate / 50) * 2))
        const samples = Buffer.concat(decoded.slice(10).map((frame) => frame!))
        // 20 dB of tone over everything else, which another frequency or rate would not come near.
        assert.ok(toneShare(samples, rate, 440) > 0.99, `only ${toneShare(samples, rate, 440)} is the tone`)
        const loudness = power(samples) / power(pcm(tone(rate, 440, 0, rate)))
        assert.ok(loudness > 0.8 && loudness < 1.25, `${loudness} times as loud`)
      })
    }
  }

  test('makes up a lost packet from the next one’s FEC, else from what came before', () => {
    const encoder = openEncoder(24000, VOICE, true)
    const packets = Array.from({ length: 24 }, (_, i) => {
      const into = new Uint8Array(MAX_OPUS_PACKET)
      const hertz = i < 20 ? 400 : 1000
      return into.slice(0, encoder.encode(pcm(tone(24000, hertz, i * 480, 480)), into, 0))
    })
    encoder.close()
    const next = packets[23]!
    const decoder = new OpusDecoder(24000)
    for (const packet of packets.slice(0, 20)) decoder.decode(packet, 0, packet.length)
    const recovered = decoder.recover(1440, next, 0, next.length)!
    assert.equal(recovered.length, 2880)
    // Three were lost: the first is made up from the low tone before it, the third was in the packet behind.
    assert.ok(toneShare(recovered.subarray(0, 960), 24000, 400) > 0.6, 'no concealment')
    assert.ok(toneShare(recovered.subarray(1920), 24000, 1000) > 0.6, 'no FEC')
    const concealed = decoder.conceal(480)!
    assert.equal(concealed.length, 960)
    assert.ok(power(concealed) > 1e5, 'concealment right after speech is silent')
    assert.equal(decoder.conceal(60)?.length, 120, '2.5 ms')
    assert.equal(decoder.conceal(2880)?.length, 5760, '120 ms')
    decoder.close()
  })

  test('finds a corrupt packet corrupt, and goes on', () => {
    const decoder = new OpusDecoder(16000)
    assert.equal(decoder.decode(Uint8Array.of(0x0b, 0), 0, 2), undefined)
    assert.equal(decoder.decode(new Uint8Array(5000), 0, 5000), undefined)
    for (let i = 0; i < 3000; i++) {
      const noise = Uint8Array.from({ length: 1 + (i % 90) }, (_, n) => Math.imul(i + n, 2654435761) >>> 24)
      decoder.decode(noise, 0, noise.length)
    }
    const [packet] = encodeTone(16000, 440, 1, true)
    assert.equal(decoder.decode(packet!, 0, packet!.length)?.length, 640)
    decoder.close()
  })

  test('frees codecs, and answers nothing after that', () => {
    const before = { ...opusCounters }
    const cycle = (): void => {
      const decoder = new OpusDecoder(48000)
      const encoders = [openEncoder(48000), openEncoder(48000, VOICE, true)]
      const [packet] = encodeTone(48000, 440, 1, false)
      decoder.decode(packet!, 0, packet!.length)
      for (const codec of [decoder, ...encoders]) {
        codec.close()
        codec.close()
      }
      assert.equal(decoder.decode(packet!, 0, packet!.length), undefined)
      assert.equal(encoders[1]!.encode(new Uint8Array(1920), new Uint8Array(1300), 0), 0)
      assert.equal(encoders[0]!.encode(new Uint8Array(1920), new Uint8Array(1300), 0), 0)
    }
    cycle()
    const made = opusCounters.encodersMade
    const memory = opusLibrary().heap.length
    for (let i = 0; i < 500; i++) cycle()
    assert.equal(opusLibrary().heap.length, memory, 'the library’s memory grew')
    assert.equal(opusCounters.encodersMade, made, 'native encoders were not used again')
    assert.deepEqual([opusCounters.decoders, opusCounters.encoders], [before.decoders, before.encoders])
  })

  test('an encoder that is used again knows nothing of its last call', () => {
    const quiet = (): string => {
      const encoder = openEncoder(24000)
      const into = new Uint8Array(MAX_OPUS_PACKET)
      const packets = [0, 1, 2].map(() =>
        Buffer.from(into.subarray(0, encoder.encode(new Uint8Array(960), into, 0))),
      )
      encoder.close()
      return Buffer.concat(packets).toString('hex')
    }
    const first = quiet()
    encodeTone(24000, 440, 10, false)
    assert.equal(quiet(), first)
  })
})
