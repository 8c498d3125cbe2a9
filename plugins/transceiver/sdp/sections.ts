/**
 * The outer shape of an SDP (RFC 8866 §5): its lines checked and cut into the session's part and one part for each
 * m-line, within fixed bounds, keeping only the attributes that an answer depends on. Pure; throws only `invalid_sdp`.
 */

import type { SessionDescription } from 'sdp-transform'
import { EdgeError } from '../../../core/index.ts'
import type { Fingerprint } from '../peer/dtls-fingerprints.ts'

/** An offer may have this many bytes, lines and m-lines. */
const SDP_LIMITS = Object.freeze({ bytes: 65_536, lines: 4096, media: 32 })

/** The fields of an m-line (RFC 8866 §5.14). */
export interface MediaLine {
  readonly type: string
  readonly port: number
  readonly protocol: string
  readonly formats: readonly string[]
}

/** One m-line with all that was read of it, on the way to an `Offer`. */
export interface Section {
  readonly line: MediaLine
  readonly fingerprints: readonly Fingerprint[]
  readonly attributes: SessionDescription['media'][number]
  readonly mid: string | undefined
  /** Not rejected by the offer itself: a port, or `a=bundle-only` in a group (RFC 9143 §6). */
  readonly live: boolean
}

/** What was cut out of an SDP. */
export interface Sections {
  /** The session's fingerprints. */
  readonly session: readonly Fingerprint[]
  /** For each m-line, in order, its fields and its own fingerprints. */
  readonly media: readonly { readonly line: MediaLine; readonly fingerprints: readonly Fingerprint[] }[]
  /** The SDP again, with only the lines that matter here. */
  readonly kept: string
}

const KEPT = new Set([
  ...['group', 'ice-lite', 'ice-ufrag', 'ice-pwd', 'setup', 'mid', 'bundle-only', 'rtcp-mux', 'rtcp-rsize'],
  ...['rtpmap', 'extmap', 'sendrecv', 'sendonly', 'recvonly', 'inactive', 'sctp-port', 'max-message-size'],
])
const TOKEN = /^[!-~]{1,64}$/

/** Cuts `text` up; throws `invalid_sdp` with the line at fault. */
export function cutSections(text: string): Sections {
  const session: Fingerprint[] = []
  const media: { line: MediaLine; fingerprints: Fingerprint[] }[] = []
  const kept: string[] = []
  for (const [index, line] of splitLines(text).entries()) {
    if (line === '') continue
    if (!/^[a-z]=/.test(line)) throw invalid(`line ${index + 1} is not of the form "x=…": ${quote(line)}`)
    if (line.startsWith('m=')) {
      if (media.length === SDP_LIMITS.media) throw invalid(`more than ${SDP_LIMITS.media} m-lines`)
      media.push({ line: readMediaLine(line, index + 1), fingerprints: [] })
      kept.push(line)
    } else if (line.startsWith('a=fingerprint:')) {
      const fingerprint = readFingerprint(line)
      if (fingerprint) (media.at(-1)?.fingerprints ?? session).push(fingerprint)
    } else if (line.startsWith('a=') && KEPT.has(attributeName(line))) kept.push(line)
  }
  return { session, media, kept: kept.join('\r\n') }
}

/** An `invalid_sdp` error about the `sdp` field. */
export function invalid(message: string): EdgeError {
  return new EdgeError('invalid_sdp', `The SDP offer is not valid: ${message}.`, { param: 'sdp' })
}

/** An `unsupported_offer` error about the `sdp` field. */
export function unsupported(message: string): EdgeError {
  return new EdgeError('unsupported_offer', `The SDP offer cannot be served: ${message}.`, { param: 'sdp' })
}

/** A short printable piece of what a client sent, for an error message. */
export function quote(text: string): string {
  const short = text.length > 40 ? `${text.slice(0, 40)}…` : text
  return JSON.stringify(short)
}

function splitLines(text: string): string[] {
  if (text.length > SDP_LIMITS.bytes || Buffer.byteLength(text) > SDP_LIMITS.bytes) {
    throw invalid(`it is over ${SDP_LIMITS.bytes} bytes`)
  }
  const lines = text.split(/\r\n|\r|\n/, SDP_LIMITS.lines + 1)
  if (lines.length > SDP_LIMITS.lines) throw invalid(`it has over ${SDP_LIMITS.lines} lines`)
  const first = lines[0] ?? ''
  if (!/^v=0\s*$/.test(first)) throw invalid(`it must start with "v=0", but starts with ${quote(first)}`)
  return lines
}

function attributeName(line: string): string {
  const colon = line.indexOf(':')
  return (colon < 0 ? line.slice(2) : line.slice(2, colon)).trimEnd()
}

function readMediaLine(line: string, number: number): MediaLine {
  const [type = '', place = '', protocol = '', ...formats] = line.slice(2).trimEnd().split(' ', 300)
  const port = /^(\d{1,5})(?:\/\d{1,5})?$/.exec(place)?.[1]
  const tokens = [type, protocol, ...formats]
  if (
    port === undefined ||
    Number(port) > 65_535 ||
    formats.length === 0 ||
    !tokens.every((t) => TOKEN.test(t))
  ) {
    throw invalid(`line ${number} is no m-line (m=<media> <port> <protocol> <format> …): ${quote(line)}`)
  }
  return { type, port: Number(port), protocol, formats }
}

/** The algorithm in lower case, the value in upper-case hex with colons (RFC 8122 §5). */
function readFingerprint(line: string): Fingerprint | undefined {
  const match = /^a=fingerprint: ?([\w-]{1,16}) +([0-9A-Fa-f:]{2,255})\s*$/.exec(line)
  return match ? { algorithm: match[1]!.toLowerCase(), value: match[2]!.toUpperCase() } : undefined
}
