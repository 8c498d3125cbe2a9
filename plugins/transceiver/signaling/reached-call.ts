/** What signaling may do with one live call, beyond asking and ending. Types alone. */

import type { Address, JsonObject } from '../../../core/index.ts'
import type { PacketBudget } from '../packet-budget.ts'

/** Hears a call's events beside its client. Must not throw. */
export interface EventListener {
  /** An event to the client, as JSON text. */
  onEvent(text: string): void
  /** The call has ended; `failed` when that was nobody's wish. Called once, last. */
  onEnd(reason: string, failed: boolean): void
}

/** A listener's way to speak. */
export interface JoinedCall {
  /** An event as if the client had sent it, and how many characters its text has. */
  send(event: JsonObject, characters: number): void
  /** How much all listeners of the call may say together. */
  readonly budget: Pick<PacketBudget, 'spend'>
  /** Nothing is heard any more. */
  leave(): void
}

/** One side's ICE credentials (RFC 8839 §5.4). */
export interface IceCredentials {
  readonly ufrag: string
  readonly pwd: string
}

/** A call's ICE as signaling sees it. */
export interface CallIce {
  /** Names the latest credentials of both sides. */
  readonly tag: string
  /** Whether these are the client's latest. */
  isCurrent(remote: IceCredentials): boolean
  /** Takes the client's new credentials and returns ours; the old ones are good until the new are used. */
  restart(remote: IceCredentials): IceCredentials
}

/** A call's listeners as signaling sees them. */
export interface CallListeners {
  /** Throws EdgeError `rate_limited` when too many listen, `call_not_found` when the call is about to end. */
  join(listener: EventListener): JoinedCall
}

/** One live call, for its own caller. */
export interface ReachedCall {
  readonly restarts: CallIce
  readonly listeners: CallListeners
  /**
   * Answers a later offer of the same peer connection; one with new ICE credentials restarts ICE. Throws EdgeErrors as the
   * first offer does, and `not_implemented` for one that asks for more than that.
   */
  renegotiate(offer: string): string
  /** What its answer advertised. */
  readonly candidates: readonly Address[]
  /** Of its audio line. */
  readonly mid: string | undefined
}
