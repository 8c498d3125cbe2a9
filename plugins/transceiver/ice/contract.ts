/**
 * What an ICE agent is made of, what it asks of its owner and what it says of each message. Types alone.
 */

import type { StunParse } from '../../../core/index.ts'
import type { Credentials } from './generation.ts'
import type { Path } from './path.ts'

/** What became of a STUN message; a closed set, for counters. */
export type IceOutcome =
  | Exclude<StunParse, 'ok'>
  /** A request with a wrong USERNAME or integrity: dropped. */
  | 'unauthenticated'
  /** A fresh check, answered. */
  | 'answered'
  /** A check that came before from this client: answered, nothing else. */
  | 'repeated'
  /** A check that came before, now from a strange address: dropped. */
  | 'replayed'
  | 'role_conflict'
  | 'unknown_attribute'
  /** An answer withheld: the address has had three times what it sent. */
  | 'over_budget'
  /** A right answer to our own check: the path is validated. */
  | 'validated'
  /** Any other answer: nothing of ours, late, or forged. */
  | 'unexpected'
  /** An indication, or another method. */
  | 'ignored'

/** What the agent asks of its owner. Paths given here are the agent's own and do not change. */
export interface IceHandlers {
  /** Send STUN. The bytes are reused after it returns. */
  send(bytes: Uint8Array, start: number, end: number, path: Path): void
  /** Media goes this way now: the first time, another address, or another relay. */
  onSelected(path: Path): void
  /** A client address showed itself, authenticated: its packets should reach this session. Told again at every check. */
  onOpened?(path: Path): void
  /** The client was shown to receive there. */
  onValidated?(path: Path): void
  /** The address is not remembered any more. */
  onForgotten?(path: Path): void
  /** The new credentials of a restart were used: the old are void. */
  onRestarted?(): void
}

/** How to make an agent. */
export interface IceOptions {
  readonly local: Credentials
  readonly remote: Credentials
  readonly handlers: IceHandlers
  /** Cryptographically random bytes. */
  random(length: number): Uint8Array
}
