import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Impairment } from '../../../../../core/testing/impairment.ts'
import type { OpusRate } from '../../../../../plugins/transceiver/media/opus.ts'
import { OpusDecoder } from '../../../../../plugins/transceiver/media/opus.ts'
import { openEncoder, VOICE } from '../../../../../plugins/transceiver/media/opus-encoder.ts'
import { MediaRig } from './media-rig.ts'
import { pcm } from './signals.ts'
import { voice } from './voice.ts'

const SECONDS = 12
const PACKETS = SECONDS * 50
const LINK = { loss: 0.1, jitterMs: 50, delayMs: 20 }

/** Speech as a browser sends it that has been told of 10% loss. */
function packetsOf(rate: OpusRate): Buffer[] {
  const encoder = openEncoder(rate, VOICE)
  encoder.expectLoss(10)
  const samples = pcm(voice(rate, SECONDS, false))
  const length = (rate / 50) * 2
  const into = new Uint8Array(1300)
  const packets = Array.from({ length: PACKETS }, (_, i) =>
    Buffer.from(into.subarray(0, encoder.encode(samples.subarray(i * length, (i + 1) * length), into, 0))),
  )
  encoder.close()
  return packets
}

/** What the bridge hears of packets that come through a bad link, on its time line, and which of them never came. */
function throughLink(rate: OpusRate, packets: readonly Buffer[], seed: number, tick: (ms: number) => void) {
  const link = new Impairment(seed, LINK)
  const rig = new MediaRig({ pcm16: rate })
  const lost: number[] = []
  for (const [i, packet] of packets.entries()) {
    // The first comes, so that both time lines begin with it.
    if (i === 0) rig.receive(i, 0, packet)
    else if (!link.pass(() => rig.receive(i, i * 960, packet))) lost.push(i)
    for (let ms = 0; ms < 20; ms++) {
      tick(1)
      rig.time.advance(1)
    }
  }
  for (let ms = 0; ms < 200; ms++) {
    tick(1)
    rig.time.advance(1)
  }
  const heard = Buffer.alloc(PACKETS * (rate / 50) * 2)
  for (const { data, timestampMs } of rig.frames)
    heard.set(data, Math.round((timestampMs! * rate) / 1000) * 2)
  const { late } = rig.session.stats
  rig.session.close()
  return { heard, lost, late }
}

function clean(rate: OpusRate, packets: readonly Buffer[]): Buffer {
  const decoder = new OpusDecoder(rate)
  const parts = packets.map((packet) => decoder.decode(packet, 0, packet.length)!)
  decoder.close()
  return Buffer.concat(parts)
}

/** The mean SNR in dB of the given 20 ms of `heard`, each between −10 and 35, where `wanted` is not quiet. */
function segmentalSnr(wanted: Buffer, heard: Buffer, rate: number, segments: readonly number[]): number {
  const length = (rate / 50) * 2
  const all: number[] = []
  for (const segment of segments) {
    let [signal, noise] = [0, 0]
    for (let at = segment * length; at < (segment + 1) * length; at += 2) {
      const sample = wanted.readInt16LE(at)
      signal += sample * sample
      noise += (sample - heard.readInt16LE(at)) ** 2
    }
    if (signal / length < 1e4) continue
    all.push(Math.max(-10, Math.min(35, 10 * Math.log10(signal / Math.max(noise, 1)))))
  }
  return all.reduce((sum, snr) => sum + snr, 0) / all.length
}

for (const rate of [16000, 24000] as const) {
  test(`10% of packets lost, and jitter: at ${rate} Hz what is made up is 6 dB better than silence`, (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const packets = packetsOf(rate)
    const wanted = clean(rate, packets)
    for (const seed of [1, 2, 3]) {
      const { heard, lost, late } = throughLink(rate, packets, seed, (ms) => t.mock.timers.tick(ms))
      assert.ok(lost.length > PACKETS * 0.07 && lost.length < PACKETS * 0.13, `${lost.length} lost`)
      assert.ok(late <= 3, `${late} packets came and were not waited for`)
      // Silence has an SNR of 0 dB.
      const silent = Buffer.from(wanted)
      for (const i of lost) silent.fill(0, i * (rate / 25), (i + 1) * (rate / 25))
      assert.equal(segmentalSnr(wanted, silent, rate, lost), 0)
      const better = segmentalSnr(wanted, heard, rate, lost)
      t.diagnostic(`seed ${seed}: ${better.toFixed(1)} dB better, ${lost.length} lost, ${late} late`)
      assert.ok(better >= 6, `${better} dB better`)
      const rest = Array.from({ length: PACKETS }, (_, i) => i).filter((i) => !lost.includes(i))
      assert.ok(segmentalSnr(wanted, heard, rate, rest) > 20, 'what came is not what was sent')
    }
  })
}
