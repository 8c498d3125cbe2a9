/** Writes a client's offer, close to what Chromium sends for a voice call with a data channel. */

import { randomBytes } from 'node:crypto'

/** What an offer says; everything but the certificate has a default. */
export interface OfferOptions {
  readonly ufrag: string
  readonly pwd: string
  /** SHA-256, upper-case hex with colons. */
  readonly fingerprint: string
  /** Default `actpass`. */
  readonly setup?: 'actpass' | 'active' | 'passive'
  /** Default 111. */
  readonly payloadType?: number
  /** Default `sendrecv`. */
  readonly direction?: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive'
  /** Default true: a line for a data channel. */
  readonly data?: boolean
  /** Named as the audio's source unless it is undefined. */
  readonly ssrc?: number
  /** Whole `a=candidate:` lines without the line end; none by default, since the edge needs none. */
  readonly candidates?: readonly string[]
}

/** The payload type of 48 kHz telephone events in our offers. */
export const TELEPHONE_EVENT = 110

/** A random ICE user fragment and password, of the length that Chromium uses. */
export function randomCredentials(): { ufrag: string; pwd: string } {
  return { ufrag: randomBytes(3).toString('base64url'), pwd: randomBytes(18).toString('base64url') }
}

/** The offer's text, with CRLF line ends. */
export function writeOffer(options: OfferOptions): string {
  const { payloadType = 111, data = true } = options
  const lines = [
    'v=0',
    `o=- ${randomBytes(6).readUIntBE(0, 6)} 2 IN IP4 127.0.0.1`,
    's=-',
    't=0 0',
    `a=group:BUNDLE 0${data ? ' 1' : ''}`,
    'a=extmap-allow-mixed',
    'a=msid-semantic: WMS',
    `m=audio 9 UDP/TLS/RTP/SAVPF ${payloadType} ${TELEPHONE_EVENT}`,
    ...transport(options, '0'),
    'a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level',
    `a=${options.direction ?? 'sendrecv'}`,
    'a=rtcp-mux',
    'a=rtcp-rsize',
    `a=rtpmap:${payloadType} opus/48000/2`,
    `a=fmtp:${payloadType} minptime=10;useinbandfec=1`,
    `a=rtpmap:${TELEPHONE_EVENT} telephone-event/48000`,
  ]
  if (options.ssrc !== undefined) lines.push(`a=ssrc:${options.ssrc} cname:earshot-test`)
  if (data) {
    lines.push('m=application 9 UDP/DTLS/SCTP webrtc-datachannel', ...transport(options, '1'))
    lines.push('a=sctp-port:5000', 'a=max-message-size:262144')
  }
  return `${lines.join('\r\n')}\r\n`
}

function transport({ ufrag, pwd, fingerprint, setup, candidates = [] }: OfferOptions, mid: string): string[] {
  return [
    'c=IN IP4 0.0.0.0',
    ...candidates,
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:${pwd}`,
    'a=ice-options:trickle',
    `a=fingerprint:sha-256 ${fingerprint}`,
    `a=setup:${setup ?? 'actpass'}`,
    `a=mid:${mid}`,
  ]
}
