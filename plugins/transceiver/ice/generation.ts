/**
 * One generation of ICE credentials, prepared: an ICE restart makes the next (RFC 8445 §9). Pure.
 */

import { IntegrityKey, type StunMessage } from '../../../core/index.ts'

/** One side's ICE credentials (RFC 8839 §5.4). */
export interface Credentials {
  readonly ufrag: string
  readonly pwd: string
}

/** Both sides' credentials, and what follows from them. */
export class Generation {
  /** Our password: signs our responses, verifies their requests. */
  readonly localKey: IntegrityKey
  /** Their password: signs our requests, verifies their responses. */
  readonly remoteKey: IntegrityKey
  /** The USERNAME of our requests. */
  readonly outgoing: Buffer
  readonly #incoming: Buffer

  constructor(local: Credentials, remote: Credentials) {
    this.localKey = new IntegrityKey(local.pwd)
    this.remoteKey = new IntegrityKey(remote.pwd)
    this.outgoing = Buffer.from(`${remote.ufrag}:${local.ufrag}`)
    this.#incoming = Buffer.from(`${local.ufrag}:${remote.ufrag}`)
  }

  /** Whether a request is the peer's: both halves of its USERNAME, and its integrity under our password. */
  sent(request: StunMessage): boolean {
    return request.hasUsername(this.#incoming) && request.hasIntegrity(this.localKey)
  }
}
