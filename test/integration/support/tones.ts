/** A caller who whistles: tones as Opus packets, and what comes back as the tones that are in it. */

import { OpusDecoder } from '../../../plugins/transceiver/media/opus.ts'
import { openEncoder } from '../../../plugins/transceiver/media/opus-encoder.ts'
import { hear } from '../../browser/notes.ts'
import { play, RATE, type Tone } from '../../browser/tune.ts'
import type { TestClient } from '../../peers/client.ts'
import { onTick } from '../../peers/ticker.ts'

const PACKET_MS = 20
const SAMPLES = (RATE * PACKET_MS) / 1000
const MOST_PACKET = 1275

/** The tones as 20 ms Opus packets. */
export function whistle(tones: readonly Tone[]): Buffer[] {
  const samples = play(tones)
  const encoder = openEncoder(RATE)
  const packets: Buffer[] = []
  for (let at = 0; at + SAMPLES <= samples.length; at += SAMPLES) {
    const pcm = Buffer.alloc(SAMPLES * 2)
    for (let n = 0; n < SAMPLES; n++) pcm.writeInt16LE(Math.round(samples[at + n]! * 32767), n * 2)
    const packet = Buffer.alloc(MOST_PACKET)
    packets.push(packet.subarray(0, encoder.encode(pcm, packet, 0)))
  }
  encoder.close()
  return packets
}

/** Sends packets in real time; resolves when the last has left. */
export function sendPaced(client: TestClient, packets: readonly Buffer[]): Promise<void> {
  const startedAt = performance.now()
  let sent = 0
  return new Promise((resolve) => {
    const stop = onTick((now) => {
      for (const due = (now - startedAt) / PACKET_MS; sent < due && sent < packets.length; sent++) {
        client.sendAudio(packets[sent]!)
      }
      if (sent < packets.length) return
      stop()
      resolve()
    })
  })
}

/** The tones in Opus packets that lasted at least `leastMs`, as indices into `tones`, in order. */
export function tonesIn(packets: readonly Buffer[], tones: readonly Tone[], leastMs: number): number[] {
  const decoder = new OpusDecoder(RATE)
  const pieces = packets.map((packet) => decoder.decode(packet, 0, packet.length) ?? new Uint8Array(0))
  decoder.close()
  const pcm = Buffer.concat(pieces)
  const samples = Float32Array.from({ length: pcm.length / 2 }, (_, n) => pcm.readInt16LE(n * 2) / 32768)
  return hear(samples, tones).flatMap(({ tone, durationMs }) =>
    tone !== undefined && durationMs >= leastMs ? [tone] : [],
  )
}
