/**
 * Which address a finished DTLS handshake proves: the one where all of it was heard from last, if our flights were
 * sent nowhere else. A client that saw them elsewhere could send its last flight under any source address. Pure.
 */

import { clonePath, type Path, sameEnds, samePath } from './ice/path.ts'

/** One handshake's addresses. */
export class HandshakePath {
  #heard: Path | undefined
  #sent: Path | undefined
  #sentElsewhere = false

  /** Where DTLS was heard from last; a copy that does not change. */
  get heard(): Path | undefined {
    return this.#heard
  }

  /** A datagram came from there. */
  hear(path: Path): void {
    if (!this.#heard || !samePath(this.#heard, path)) this.#heard = clonePath(path)
  }

  /** A datagram was sent there. */
  send(path: Path): void {
    if (!this.#sent) this.#sent = clonePath(path)
    else if (!sameEnds(this.#sent, path)) this.#sentElsewhere = true
  }

  /** What the handshake proves when it is done: an address that receives, or undefined. */
  get proven(): Path | undefined {
    if (!this.#heard || !this.#sent || this.#sentElsewhere) return undefined
    return sameEnds(this.#heard, this.#sent) ? this.#heard : undefined
  }
}
