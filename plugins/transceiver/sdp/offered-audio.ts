/** What an audio m-line offers: Opus, telephone events, header extensions, direction (RFC 7587, 4733, 8285). Pure. */

import type { SessionDescription } from 'sdp-transform'
import type { Section } from './sections.ts'

/** An SDP direction attribute (RFC 8866 §6.7). */
export type MediaDirection = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'

/** One RTP header extension that is kept, with the offer's id (RFC 8285 §5). */
export interface HeaderExtension {
  /** 1 to 14: one-byte headers. */
  readonly id: number
  readonly uri: string
}

/** The audio line that is accepted. */
export interface OfferedAudio {
  readonly mid: string | undefined
  /** Opus. */
  readonly payloadType: number
  /** Payload types of telephone events, in the offer's order. */
  readonly telephoneEvents: readonly number[]
  /** The clock rate in Hz of each of `telephoneEvents`. */
  readonly telephoneClockRates: readonly number[]
  /** As the client sees it; the answer mirrors it. */
  readonly direction: MediaDirection
  /** RFC 6464. */
  readonly audioLevelId: number | undefined
  readonly extensions: readonly HeaderExtension[]
  readonly rtcpMux: boolean
  readonly rtcpReducedSize: boolean
}

const AUDIO_LEVEL = 'urn:ietf:params:rtp-hdrext:ssrc-audio-level'
const MID = 'urn:ietf:params:rtp-hdrext:sdes:mid'
/** The profiles that RFC 8829 §5.1.2 says to take. */
const PROFILE = /^(?:(?:UDP|TCP)\/TLS\/)?RTP\/S?AVPF?$/
const MAX_TELEPHONE_EVENTS = 4

/** Reads an audio line; undefined when it is none or has no usable Opus. */
export function readAudio(section: Section, session: SessionDescription): OfferedAudio | undefined {
  const { line, attributes, mid } = section
  if (line.type !== 'audio' || !PROFILE.test(line.protocol)) return undefined
  const codecs = readCodecs(section)
  const opus = codecs.find((c) => c.name === 'opus' && c.rate === 48_000)
  if (!opus) return undefined
  const events = codecs.filter((c) => c.name === 'telephone-event').slice(0, MAX_TELEPHONE_EVENTS)
  const extensions = readExtensions(section)
  return {
    mid,
    payloadType: opus.payloadType,
    telephoneEvents: events.map((c) => c.payloadType),
    telephoneClockRates: events.map((c) => c.rate),
    direction: attributes.direction ?? session.direction ?? 'sendrecv',
    audioLevelId: extensions.find((e) => e.uri === AUDIO_LEVEL)?.id,
    extensions,
    rtcpMux: attributes.rtcpMux !== undefined,
    rtcpReducedSize: attributes.rtcpRsize !== undefined,
  }
}

interface Codec {
  readonly payloadType: number
  readonly name: string
  readonly rate: number
}

/** The m-line's codecs in its order of preference; a format without `a=rtpmap` is left out. */
function readCodecs({ line, attributes }: Section): Codec[] {
  const maps = new Map<string, Codec>()
  for (const { payload, codec, rate } of attributes.rtp) {
    const payloadType = Number(payload)
    const clock = Number(rate ?? 8000)
    if (!isPayloadType(payloadType) || !Number.isInteger(clock) || clock < 1) continue
    maps.set(String(payloadType), { payloadType, name: String(codec).toLowerCase(), rate: clock })
  }
  return [...new Set(line.formats)].flatMap((format) => maps.get(format) ?? [])
}

/** 64 to 95 would read as RTCP (RFC 5761 §4). */
function isPayloadType(n: number): boolean {
  return Number.isInteger(n) && ((n >= 0 && n < 64) || (n > 95 && n < 128))
}

function readExtensions({ attributes }: Section): HeaderExtension[] {
  const found: HeaderExtension[] = []
  for (const { value, uri, direction, 'encrypt-uri': encrypted } of attributes.ext ?? []) {
    const id = Number(value)
    const wanted = (uri === AUDIO_LEVEL || uri === MID) && encrypted === undefined && direction === undefined
    if (!wanted || !(id >= 1 && id <= 14)) continue
    if (!found.some((e) => e.id === id || e.uri === uri)) found.push({ id, uri })
  }
  return found
}
