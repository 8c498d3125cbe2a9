/** Listens to a page: records what its browser plays, and hears whether it is the tune that was sung. */

import type { Page } from 'playwright-core'
import { faultsIn, hear } from './notes.ts'
import { RATE, TUNE, TUNE_MS } from './tune.ts'

/** Room for this many pieces of 10 ms while the page is busy with something else. */
const BACKLOG = 2000

/** Two whole tunes and a little, so that one is heard from its marker on wherever the recording begins. */
const SECONDS = (2 * TUNE_MS) / 1000 + 0.5

const TRIES = 4

/** What to record: expressions of the page. */
export interface Source {
  /** A MediaStream. */
  readonly stream: string
  /** The RTCPeerConnection that it comes from. */
  readonly peerConnection: string
}

/** What was heard, and what the browser says of the packets that it was made from. */
export interface Recording {
  /** Mono, at RATE: what the browser plays. */
  readonly samples: Float32Array
  /** Time for which it made sound up, because a packet came too late or never. */
  readonly concealedMs: number
  /** Packets that never came. */
  readonly lost: number
}

/**
 * Hears whether the tune comes back, sung in a round: one line for each fault, none when it came through whole.
 *
 * On a busy machine Chromium itself stumbles: then it makes sound up although no packet was lost. Only such a
 * recording is made again, at most three times; lost packets, and faults in a smooth recording, are not excused.
 */
export async function hearTune(page: Page, source: Source): Promise<string[]> {
  for (let left = TRIES - 1; ; left--) {
    const { samples, concealedMs, lost } = await record(page, source, SECONDS)
    const faults = faultsIn(hear(samples, TUNE), TUNE)
    if (lost > 0) faults.push(`${lost} packets were lost`)
    if (faults.length === 0 || lost > 0 || concealedMs === 0 || left === 0) return faults
  }
}

/** Records `seconds`. Nothing is added to the page, so its content security policy holds as it does for people. */
export async function record(page: Page, source: Source, seconds: number): Promise<Recording> {
  const before = await counters(page, source)
  const base64: string = await page.evaluate(inPage(source.stream, seconds))
  const after = await counters(page, source)
  const bytes = Buffer.from(base64, 'base64')
  return {
    samples: new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)),
    concealedMs: ((after.concealed - before.concealed) * 1000) / RATE,
    lost: after.lost - before.lost,
  }
}

function counters(page: Page, { peerConnection }: Source): Promise<{ concealed: number; lost: number }> {
  return page.evaluate(`(async () => {
    const report = [...(await (${peerConnection}).getStats()).values()]
    const inbound = report.find(({ type, kind }) => type === 'inbound-rtp' && kind === 'audio')
    // Nothing is counted before the first packet.
    return { concealed: inbound?.concealedSamples ?? 0, lost: inbound?.packetsLost ?? 0 }
  })()`)
}

function inPage(stream: string, seconds: number): string {
  return `(async () => {
    const track = (${stream}).getAudioTracks()[0].clone()
    const reader = new MediaStreamTrackProcessor({ track, maxBufferSize: ${BACKLOG} }).readable.getReader()
    const samples = new Float32Array(${Math.round(seconds * RATE)})
    let at = 0
    while (at < samples.length) {
      const { value, done } = await reader.read()
      if (done) throw new Error('the track ended after ' + at + ' samples')
      if (value.sampleRate !== ${RATE}) throw new Error('recorded at ' + value.sampleRate)
      const piece = new Float32Array(value.numberOfFrames)
      value.copyTo(piece, { planeIndex: 0, format: 'f32-planar' })
      samples.set(piece.subarray(0, samples.length - at), at)
      at += piece.length
      value.close()
    }
    track.stop()
    const bytes = new Uint8Array(samples.buffer)
    let text = ''
    for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
    return btoa(text)
  })()`
}
