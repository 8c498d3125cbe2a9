/**
 * A session's RTP and RTCP, secured: what comes in is authenticated before anybody sees it, and tells ICE where the
 * client is; what goes out goes where ICE says, or nowhere. Nothing is allocated per packet.
 */

import type { DtlsLink } from './dtls-link.ts'
import type { IceAgent } from './ice/agent.ts'
import type { Path } from './ice/path.ts'
import type { MediaSession } from './media/media-session.ts'
import { SrtpSession } from './media/srtp.ts'
import type { SrtpKeys } from './media/srtp-keys.ts'
import type { SessionTrace } from './session-trace.ts'
import type { TransceiverSocket } from './socket.ts'

/** What it stands on, and whom it tells. */
export interface SecureMediaOptions {
  readonly keys: SrtpKeys
  readonly ice: IceAgent
  readonly socket: TransceiverSocket
  /** Is told when the client has shown that it has the keys. */
  readonly dtls: Pick<DtlsLink, 'settle'>
  /** Gets what was authentic. */
  readonly media: Pick<MediaSession, 'receiveRtp' | 'receiveRtcp'>
  /** Gets `audio.sent` and `audio.received` with the first RTP packet that goes this way. */
  readonly trace: Pick<SessionTrace, 'firstAudio'>
}

/** One session's media on its way. Close it. */
export class SecureMedia {
  readonly #srtp: SrtpSession
  readonly #o: SecureMediaOptions
  #hasSent = false
  #hasReceived = false

  constructor(options: SecureMediaOptions) {
    this.#srtp = new SrtpSession(options.keys)
    this.#o = options
  }

  /** Takes an SRTP or SRTCP packet (RFC 5761 §4 tells them apart); true when it was authentic and new. */
  receive(now: number, bytes: Buffer, start: number, end: number, path: Path): boolean {
    const srtp = this.#srtp
    const isRtcp = end - start > 1 && bytes[start + 1]! >= 192 && bytes[start + 1]! <= 223
    const plainEnd = isRtcp ? srtp.unprotectRtcp(bytes, start, end) : srtp.unprotectRtp(bytes, start, end)
    if (plainEnd < 0) return false
    this.#o.dtls.settle()
    this.#o.ice.heard(path, end - start)
    if (srtp.newest) this.#o.ice.authenticated(now, path)
    if (isRtcp) this.#o.media.receiveRtcp(now, bytes, start, plainEnd)
    else {
      if (!this.#hasReceived) this.#o.trace.firstAudio('audio.received')
      this.#hasReceived = true
      this.#o.media.receiveRtp(now, bytes, start, plainEnd)
    }
    return true
  }

  /** Secures and sends the RTP packet bytes[start, end), which has the room that `MediaSession` leaves round it. */
  sendRtp(bytes: Buffer, start: number, end: number): void {
    if (!this.#send(bytes, start, this.#srtp.protectRtp(bytes, start, end)) || this.#hasSent) return
    this.#hasSent = true
    this.#o.trace.firstAudio('audio.sent')
  }

  /** The same for RTCP. */
  sendRtcp(bytes: Buffer, start: number, end: number): void {
    this.#send(bytes, start, this.#srtp.protectRtcp(bytes, start, end))
  }

  /** Frees the keys; nothing is sent or received any more. Idempotent. */
  close(): void {
    this.#srtp.close()
  }

  #send(bytes: Buffer, start: number, end: number): boolean {
    const path = this.#o.ice.selected
    if (!path || end < 0) return false
    this.#o.socket.sendInPlace(bytes, start, end, path)
    return true
  }
}
