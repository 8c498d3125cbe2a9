/**
 * Writes the answer to an offer as text: ICE-lite, complete, one audio line, at most one data channel line, every other
 * m-line refused with port 0 (RFC 8829 §5.3.1, RFC 9143 §7.3). CRLF throughout. Pure.
 *
 * Candidates stand in the first accepted line only, since the others share its transport; credentials, fingerprint and
 * role stand in each, for stacks that read them there.
 */

import type { Address } from '../../../core/index.ts'
import type { Offer, OfferedMedia } from './offer.ts'
import type { MediaDirection } from './offered-audio.ts'
import { MAX_MESSAGE_SIZE } from './offered-data.ts'

/** Our SCTP port. */
const SCTP_PORT = 5000

/** What an answer says of our own side. */
export interface AnswerOptions {
  readonly ufrag: string
  readonly pwd: string
  /** SHA-256 of our certificate, in upper-case hex with colons. */
  readonly fingerprint: string
  /** The advertised addresses, the preferred one first; at least one. */
  readonly candidates: readonly Address[]
  readonly ssrc: number
  readonly cname: string
  /** Decimal digits (RFC 8866 §5.2). */
  readonly sessionId: string
  /** Grows with each answer of one session. Default 1. */
  readonly sessionVersion?: number
}

const MIRRORED: Readonly<Record<MediaDirection, MediaDirection>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
}

/** Writes the answer. */
export function writeAnswer(offer: Offer, options: AnswerOptions): string {
  const accepted = offer.media.filter((m) => m.accepted)
  const lines = [
    'v=0',
    `o=- ${options.sessionId} ${options.sessionVersion ?? 1} IN IP4 0.0.0.0`,
    's=-',
    't=0 0',
    'a=ice-lite',
  ]
  if (offer.bundled) lines.push(`a=group:BUNDLE ${accepted.map((m) => m.mid).join(' ')}`)
  for (const media of offer.media) {
    if (media.accepted === false) lines.push(...refused(media))
    else {
      lines.push(...transport(media, offer, options, media === accepted[0]))
      lines.push(...(media.accepted === 'audio' ? audio(offer, options) : data()))
    }
  }
  return `${lines.join('\r\n')}\r\n`
}

function refused(media: OfferedMedia): string[] {
  const lines = [`m=${media.type} 0 ${media.protocol} ${media.formats[0]}`, 'c=IN IP4 0.0.0.0']
  if (media.mid !== undefined) lines.push(`a=mid:${media.mid}`)
  lines.push('a=inactive')
  return lines
}

/** The m-line and what every accepted line says of the transport. */
function transport(media: OfferedMedia, offer: Offer, options: AnswerOptions, tagged: boolean): string[] {
  // The default destination must be one of the candidates (RFC 8839 §4.2.1.2); IPv4 reads everywhere.
  const fallback = options.candidates.find((c) => c.isIPv4) ?? options.candidates[0]!
  const { audio } = offer
  const formats =
    media.accepted === 'audio'
      ? [audio.payloadType, ...audio.telephoneEvents].join(' ')
      : 'webrtc-datachannel'
  const lines = [
    `m=${media.type} ${fallback.port} ${media.protocol} ${formats}`,
    `c=IN ${fallback.isIPv4 ? 'IP4' : 'IP6'} ${fallback.host}`,
  ]
  if (media.mid !== undefined) lines.push(`a=mid:${media.mid}`)
  lines.push(`a=ice-ufrag:${options.ufrag}`, `a=ice-pwd:${options.pwd}`)
  lines.push(`a=fingerprint:sha-256 ${options.fingerprint}`, `a=setup:${offer.answerSetup}`)
  if (tagged) lines.push(...candidateLines(options.candidates), 'a=end-of-candidates')
  return lines
}

/** Host candidates (RFC 8839 §5.1), without the `ufrag` extension: some parsers fail on it. */
export function candidateLines(addresses: readonly Address[]): string[] {
  const hosts = [...new Set(addresses.map((a) => a.host))]
  return addresses.map((address, index) => {
    // RFC 8445 §5.1.2.1: type preference 126, then ours, then component 1.
    const priority = 126 * 2 ** 24 + (65_535 - index) * 2 ** 8 + 255
    return `a=candidate:${hosts.indexOf(address.host) + 1} 1 udp ${priority} ${address.host} ${address.port} typ host`
  })
}

function audio({ audio }: Offer, { ssrc, cname }: AnswerOptions): string[] {
  const direction = MIRRORED[audio.direction]
  const lines = audio.extensions.map((e) => `a=extmap:${e.id} ${e.uri}`)
  lines.push(`a=${direction}`)
  if (audio.rtcpMux) lines.push('a=rtcp-mux')
  if (audio.rtcpReducedSize) lines.push('a=rtcp-rsize')
  lines.push(`a=rtpmap:${audio.payloadType} opus/48000/2`)
  lines.push(`a=fmtp:${audio.payloadType} minptime=10;useinbandfec=1`)
  for (const [index, payloadType] of audio.telephoneEvents.entries()) {
    lines.push(`a=rtpmap:${payloadType} telephone-event/${audio.telephoneClockRates[index]}`)
  }
  if (direction === 'sendrecv' || direction === 'sendonly') {
    lines.push(`a=msid:${cname} ${cname}`, `a=ssrc:${ssrc} cname:${cname}`)
  }
  return lines
}

function data(): string[] {
  return [`a=sctp-port:${SCTP_PORT}`, `a=max-message-size:${MAX_MESSAGE_SIZE}`]
}
