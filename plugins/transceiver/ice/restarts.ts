/**
 * The ICE restarts of one session (RFC 8445 §9): new credentials for both sides, the old ones good until the new are used,
 * and a tag that says which are the latest, for signaling that must not act on older ones. Pure but for the randomness it
 * is given.
 */

import { createHash } from 'node:crypto'
import type { Credentials } from './generation.ts'

/** What restarts are made with. */
export interface IceRestartOptions {
  readonly local: Credentials
  readonly remote: Credentials
  random(length: number): Uint8Array
  /** Makes a ufrag that leads to the session too. */
  newUfrag(): string
  /** A ufrag of ours is not used any more. */
  dropUfrag(ufrag: string): void
  /** Prepares the agent. */
  onRestart(local: Credentials, remote: Credentials): void
}

/** One session's credentials through its restarts. */
export class IceRestarts {
  readonly #o: IceRestartOptions
  #live: Credentials
  #next: Credentials | undefined
  #remote: Credentials
  #count = 0

  constructor(options: IceRestartOptions) {
    this.#o = options
    this.#live = options.local
    this.#remote = options.remote
  }

  /** Our own latest credentials. */
  get local(): Credentials {
    return this.#next ?? this.#live
  }

  /** Names the latest credentials; opaque, letters, digits, `-` and `_`. */
  get tag(): string {
    const text = `${this.local.ufrag} ${this.#remote.ufrag} ${this.#count}`
    return createHash('sha256').update(text).digest('base64url').slice(0, 22)
  }

  /** Whether these are the client's latest credentials. */
  isCurrent({ ufrag, pwd }: Credentials): boolean {
    return ufrag === this.#remote.ufrag && pwd === this.#remote.pwd
  }

  /** Takes the client's new credentials and returns ours. Media goes on as it was until the client uses them. */
  restart(remote: Credentials): Credentials {
    const local = { ufrag: this.#o.newUfrag(), pwd: Buffer.from(this.#o.random(16)).toString('hex') }
    const before = this.#next
    this.#next = local
    this.#remote = remote
    this.#count++
    if (before) this.#drop(before)
    this.#o.onRestart(local, remote)
    return local
  }

  /** The latest credentials have been used: what was before them is void. */
  completed(): void {
    if (!this.#next) return
    const before = this.#live
    this.#live = this.#next
    this.#next = undefined
    this.#drop(before)
  }

  /** A codec may give a route the same ufrag every time: then it is in use still. */
  #drop({ ufrag }: Credentials): void {
    if (ufrag !== this.#live.ufrag && ufrag !== this.#next?.ufrag) this.#o.dropUfrag(ufrag)
  }
}
