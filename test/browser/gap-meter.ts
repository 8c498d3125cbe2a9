/**
 * Measures the gap that a person hears when packets stop in mid-call: records what the page plays from `start` to
 * `stop`, and takes the browser's own counts of what it made up and of what never came.
 */

import type { Page } from 'playwright-core'
import { hear } from './notes.ts'
import type { Source } from './recorder.ts'
import { RATE, TUNE } from './tune.ts'

/** A pause between two notes, or a smeared edge, is no gap. Milliseconds. */
const SMEARED_MS = 30

/** What was heard. */
export interface Gap {
  /** The whole time for which the browser had nothing to play and made sound up, as it says itself. */
  readonly gapMs: number
  /** The longest time in which no note of the tune sounded: what it makes up fades to silence. */
  readonly silentMs: number
  /** Packets from the edge that never came, by their RTP sequence numbers. */
  readonly lost: number
}

/** Begins to record. One at a time in a page. */
export async function startGap(page: Page, source: Source): Promise<void> {
  await page.evaluate(`(async () => {
    ${COUNTERS}
    const track = (${source.stream}).getAudioTracks()[0].clone()
    const reader = new MediaStreamTrackProcessor({ track, maxBufferSize: 2000 }).readable.getReader()
    const pieces = []
    window.gapMeter = { track, pieces, before: await counters(${source.peerConnection}) }
    gapMeter.read = (async () => {
      for (;;) {
        const { value, done } = await reader.read()
        if (done) return
        const piece = new Float32Array(value.numberOfFrames)
        value.copyTo(piece, { planeIndex: 0, format: 'f32-planar' })
        pieces.push(piece)
        value.close()
      }
    })()
  })()`)
}

/** Ends the recording and says what was heard in it. */
export async function stopGap(page: Page, source: Source): Promise<Gap> {
  const taken = await page.evaluate<{ concealed: number; lost: number; base64: string }>(`(async () => {
    ${COUNTERS}
    const { track, pieces, before, read } = gapMeter
    const after = await counters(${source.peerConnection})
    track.stop()
    await read
    const bytes = new Uint8Array(await new Blob(pieces).arrayBuffer())
    let text = ''
    for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
    return { concealed: after.concealed - before.concealed, lost: after.lost - before.lost, base64: btoa(text) }
  })()`)
  const bytes = Buffer.from(taken.base64, 'base64')
  const samples = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
  return { gapMs: (taken.concealed * 1000) / RATE, silentMs: longestSilence(samples), lost: taken.lost }
}

function longestSilence(samples: Float32Array): number {
  let longest = 0
  let silence = 0
  for (const { tone, durationMs } of hear(samples, TUNE)) {
    if (tone === undefined) silence += durationMs
    else if (durationMs > SMEARED_MS) silence = 0
    longest = Math.max(longest, silence)
  }
  return longest > SMEARED_MS ? longest : 0
}

const COUNTERS = `const counters = async (pc) => {
  const inbound = [...(await pc.getStats()).values()].find(({ type, kind }) => type === 'inbound-rtp' && kind === 'audio')
  return { concealed: inbound.concealedSamples, lost: inbound.packetsLost }
}`
