/**
 * A session's DTLS on its way: made when it is first needed, sent only where ICE lets it go, and telling ICE what its
 * records show of the client's address.
 */

import { HandshakePath } from './handshake-path.ts'
import type { IceAgent } from './ice/agent.ts'
import { type Path, samePath } from './ice/path.ts'
import { type DtlsContext, DtlsEndpoint, type SrtpKeys } from './peer/dtls.ts'
import type { Offer } from './sdp/offer.ts'
import type { TransceiverSocket } from './socket.ts'

/** What it stands on, and whom it tells. */
export interface DtlsLinkOptions {
  readonly offer: Offer
  readonly context: DtlsContext
  readonly ice: IceAgent
  readonly socket: TransceiverSocket
  /** The handshake begins. */
  onBegun(): void
  onConnected(keys: SrtpKeys): void
  onMessage(message: Buffer): void
  /** It has ended, other than by `close`. */
  onClosed(reason: string, failed: boolean): void
}

/** One session's DTLS. Close it. */
export class DtlsLink {
  readonly #o: DtlsLinkOptions
  readonly #handshake = new HandshakePath()
  #endpoint: DtlsEndpoint | undefined
  #now = 0
  #isMute = false
  #isClosed = false

  constructor(options: DtlsLinkOptions) {
    this.#o = options
  }

  /** Our role: the client where the offer left us no other (RFC 8842 §5). */
  get role(): 'server' | 'client' {
    return this.#o.offer.answerSetup === 'active' ? 'client' : 'server'
  }

  /** The client receives somewhere: as the DTLS client we begin, once. */
  begin(now: number): void {
    this.#now = now
    if (this.role === 'client' && !this.#isClosed) this.#open()
  }

  /** Takes a datagram; true when it was certainly meant for this session. */
  receive(now: number, bytes: Buffer, start: number, end: number, path: Path): boolean {
    const { ice } = this.#o
    if (this.#isClosed) return false
    this.#now = now
    ice.heard(path, end - start)
    if (!this.#endpoint && this.role === 'client') return false
    this.#handshake.hear(path)
    const endpoint = this.#open()
    if (!endpoint) return false
    const fresh = endpoint.receive(bytes, start, end, now)
    // What it delivered may have ended the session, whose addresses are nobody's business then.
    if (this.#hasClosed()) return fresh
    if (fresh) ice.authenticated(now, path)
    // A handshake's records prove nothing yet; where the client was shown to receive, they are its own.
    const { selected } = ice
    return fresh || (endpoint.state === 'connecting' && !!selected && samePath(selected, path))
  }

  /** The client has sent authentic media, so that it has seen the end of the handshake. */
  settle(): void {
    this.#endpoint?.settle()
  }

  /** Sends a message; false if it could not be. */
  write(message: Uint8Array): boolean {
    return this.#endpoint?.write(message) ?? false
  }

  /** Repeats what was lost, when that is due. */
  tick(now: number): void {
    this.#now = now
    if (this.#endpoint && now >= this.#endpoint.deadline) this.#endpoint.tick(now)
  }

  /** Nothing is sent any more, not even the goodbye of `close`. */
  mute(): void {
    this.#isMute = true
  }

  /** Says close_notify if connected, and frees everything. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#endpoint?.close()
  }

  #hasClosed(): boolean {
    return this.#isClosed
  }

  /** The endpoint, made when there is none; without one the session has ended, since none can be made. */
  #open(): DtlsEndpoint | undefined {
    if (this.#endpoint) return this.#endpoint
    const { offer, context, onBegun, onMessage, onClosed } = this.#o
    onBegun()
    try {
      this.#endpoint = new DtlsEndpoint({
        role: this.role,
        fingerprints: offer.fingerprints,
        context,
        send: (datagram) => this.#send(datagram),
        onConnected: (keys) => this.#onConnected(keys),
        onMessage,
        onClosed,
      })
    } catch (error) {
      onClosed(error instanceof Error ? error.message : String(error), true)
      return undefined
    }
    this.#endpoint.start(this.#now)
    return this.#endpoint
  }

  #onConnected(keys: SrtpKeys): void {
    const { proven } = this.#handshake
    if (proven) this.#o.ice.validated(this.#now, proven)
    this.#o.onConnected(keys)
  }

  #send(datagram: Uint8Array): void {
    const { ice, socket } = this.#o
    const path = ice.selected ?? this.#handshake.heard
    if (this.#isMute || !path || !ice.maySend(path, datagram.length)) return
    this.#handshake.send(path)
    socket.send(datagram, 0, datagram.length, path)
  }
}
