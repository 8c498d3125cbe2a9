/**
 * An ICE-lite agent that checks paths (RFC 8445 §2.5, RFC 7675, and one thing more: it sends to a new client
 * address only after that address has answered a Binding request of ours). Sans I/O: packets and time are inputs,
 * sending is a handler. Never throws on any bytes.
 *
 * Nothing moves by what is not authenticated and fresh. A captured check that is sent again is answered where the
 * client is known (a lost answer makes a client repeat itself) and dropped elsewhere; it neither moves media nor
 * opens a path, and counts as consent at most once for each validated address.
 */

import {
  STUN_BINDING_REQUEST,
  STUN_BINDING_SUCCESS,
  StunMessage,
  TRANSACTION_ID,
} from '../../../core/index.ts'
import type { IceHandlers, IceOptions, IceOutcome } from './contract.ts'
import { type Credentials, Generation } from './generation.ts'
import { Outbox } from './outbox.ts'
import { type Pair, Pairs } from './pairs.ts'
import { clonePath, type Path, samePath } from './path.ts'
import { Transactions } from './transactions.ts'

export type { IceHandlers, IceOptions, IceOutcome } from './contract.ts'

/** One session's agent. */
export class IceAgent {
  readonly #handlers: IceHandlers
  readonly #random: (length: number) => Uint8Array
  readonly #outbox: Outbox
  readonly #message = new StunMessage()
  readonly #transactions = new Transactions()
  readonly #pairs = new Pairs()
  #generation: Generation
  #next: Generation | undefined
  #announced: Path | undefined

  constructor(options: IceOptions) {
    this.#handlers = options.handlers
    this.#random = options.random
    this.#outbox = new Outbox(
      (bytes, start, end, path) => this.#handlers.send(bytes, start, end, path),
      options.random(8),
    )
    this.#generation = new Generation(options.local, options.remote)
  }

  /** Where media goes; undefined until an address is validated. Never an unvalidated one. */
  get selected(): Path | undefined {
    return this.#announced
  }

  /** When the client last consented (RFC 7675): its last fresh check from a validated address. */
  get lastCheckAt(): number | undefined {
    let last = Number.NEGATIVE_INFINITY
    for (const pair of this.#pairs.all) if (pair.validated && pair.lastCheckAt > last) last = pair.lastCheckAt
    return last === Number.NEGATIVE_INFINITY ? undefined : last
  }

  /** Whether `tick` has anything to do. */
  get busy(): boolean {
    for (const pair of this.#pairs.all) if (pair.check.pending) return true
    return false
  }

  /** Takes bytes[start, end), a datagram whose first byte says STUN. It counts them itself: no `heard` for these. */
  receiveStun(now: number, bytes: Buffer, start: number, end: number, path: Path): IceOutcome {
    const pair = this.#pairs.find(path)
    pair?.budget.credit(end - start)
    const message = this.#message
    const fault = message.parse(bytes, start, end)
    if (fault !== 'ok') return fault
    if (message.type === STUN_BINDING_SUCCESS) return this.#onAnswer(now, pair, path)
    if (message.type !== STUN_BINDING_REQUEST) return 'ignored'
    const generation = this.#sender()
    if (!generation) return 'unauthenticated'
    if (message.unknownCount > 0) return this.#refuse(420, generation, pair, path)
    // We are lite, so we are controlled, whatever the tie-breakers say (RFC 8445 §7.3.1.1).
    if (message.controlled) return this.#refuse(487, generation, pair, path)
    return this.#onCheck(now, generation, pair, path)
  }

  /** Counts a datagram that is not STUN, before anything is sent because of it. */
  heard(path: Path, length: number): void {
    const { selected } = this.#pairs
    if (selected && samePath(selected.path, path)) return
    this.#pairs.find(path)?.budget.credit(length)
  }

  /** Whether `length` bytes that are not STUN may be sent this way now; counts them when they may. */
  maySend(path: Path, length: number): boolean {
    const { selected } = this.#pairs
    if (selected && samePath(selected.path, path)) return true
    const pair = this.#pairs.find(path)
    if (!pair) return false
    if (pair.validated) return true
    if (!pair.budget.take(length)) return false
    pair.reached = true
    return true
  }

  /** A DTLS handshake completed from there. It proves nothing where none of it was sent. */
  validated(now: number, path: Path): void {
    const pair = this.#pairs.find(path)
    if (!pair?.reached || pair.validated) return
    this.#validate(pair)
    this.#choose(now)
  }

  /** A DTLS, SRTP or SRTCP record that was authentic and above the replay window came this way. */
  authenticated(now: number, path: Path): void {
    const { selected } = this.#pairs
    if (selected && this.#pairs.carries(selected) && samePath(selected.path, path)) return
    const pair = this.#pairs.find(path) ?? this.#openSibling(now, path)
    if (!pair) return
    if (!pair.validated) {
      this.#prove(now, pair, this.#generation)
      return
    }
    if (!samePath(pair.path, path)) pair.path = clonePath(path)
    this.#pairs.carried(now, pair)
    this.#choose(now)
  }

  /** ICE restart: the old credentials stay valid until the new are used. Media and addresses stay as they are. */
  restart(local: Credentials, remote: Credentials): void {
    this.#next = new Generation(local, remote)
  }

  /** Sends what tries of our own checks are due. Call every 25 ms while `busy`. */
  tick(now: number): void {
    for (const pair of this.#pairs.all) {
      const generation = pair.check.pending
      if (!generation) continue
      if (pair.check.expired(now)) pair.check.stop()
      else this.#try(now, pair, generation)
    }
  }

  #sender(): Generation | undefined {
    if (this.#next?.sent(this.#message)) return this.#next
    return this.#generation.sent(this.#message) ? this.#generation : undefined
  }

  #onCheck(now: number, generation: Generation, known: Pair | undefined, path: Path): IceOutcome {
    const message = this.#message
    const { bytes, start, end, transactionAt, priority } = message
    const freshness = this.#transactions.look(bytes, transactionAt, path.client)
    if (!known && freshness !== 'fresh') return 'replayed'
    const pair = known ?? this.#open(now, path, end - start)
    if (freshness === 'repeated' || (freshness === 'elsewhere' && !pair.validated)) {
      return this.#outbox.success(message, generation, pair, path) ? 'repeated' : 'over_budget'
    }
    this.#transactions.record(bytes, transactionAt, path.client)
    pair.lastCheckAt = now
    if (freshness === 'fresh') {
      if (priority >= 0) pair.priority = priority
      if (!samePath(pair.path, path)) pair.path = clonePath(path)
      this.#use(generation)
    }
    // Of a validated one too: clients that had the address meanwhile may have cost the session its place there.
    if (pair.validated || !pair.check.pending) this.#handlers.onOpened?.(pair.path)
    const replied = this.#outbox.success(message, generation, pair, path)
    // The answer is out and has made the relay's route live: now our own check can come back.
    this.#prove(now, pair, generation)
    this.#choose(now)
    return replied ? 'answered' : 'over_budget'
  }

  #onAnswer(now: number, pair: Pair | undefined, path: Path): IceOutcome {
    if (!pair?.check.answeredBy(this.#message)) return 'unexpected'
    if (!samePath(pair.path, path)) pair.path = clonePath(path)
    this.#validate(pair)
    this.#choose(now)
    return 'validated'
  }

  #refuse(code: 420 | 487, generation: Generation, pair: Pair | undefined, path: Path): IceOutcome {
    if (!this.#outbox.refusal(code, this.#message, generation, pair, path)) return 'over_budget'
    return code === 420 ? 'unknown_attribute' : 'role_conflict'
  }

  /** The new credentials of a restart end the old ones by being used. */
  #use(generation: Generation): void {
    if (generation !== this.#next) return
    this.#generation = generation
    this.#next = undefined
    this.#handlers.onRestarted?.()
  }

  #open(now: number, path: Path, length: number): Pair {
    for (let old = this.#pairs.stale(now); old; old = this.#pairs.stale(now)) this.#forget(old)
    const crowded = this.#pairs.crowded()
    if (crowded) this.#forget(crowded)
    const pair = this.#pairs.add(path)
    pair.budget.credit(length)
    return pair
  }

  /** A pair for media that a validated client suddenly sends to another address of ours. */
  #openSibling(now: number, path: Path): Pair | undefined {
    const sibling = this.#pairs.findClient(path.client)
    if (!sibling) return undefined
    const pair = this.#open(now, path, 0)
    pair.priority = sibling.priority
    pair.lastCheckAt = sibling.lastCheckAt
    this.#handlers.onOpened?.(pair.path)
    this.#validate(pair)
    return pair
  }

  #forget(pair: Pair): void {
    this.#pairs.remove(pair)
    this.#handlers.onForgotten?.(pair.path)
  }

  /** Begins to find out whether the client receives there, unless that is known or being found out. */
  #prove(now: number, pair: Pair, generation: Generation): void {
    if (pair.validated) return
    if (this.#pairs.findClient(pair.path.client)) {
      this.#validate(pair)
      return
    }
    if (pair.check.pending) return
    pair.check.start(now, this.#random(TRANSACTION_ID), generation)
    this.#try(now, pair, generation)
  }

  #try(now: number, pair: Pair, generation: Generation): void {
    if (!pair.check.due(now)) return
    if (this.#outbox.check(pair, generation)) pair.check.sent()
  }

  #validate(pair: Pair): void {
    this.#pairs.validate(pair)
    this.#handlers.onValidated?.(pair.path)
  }

  #choose(now: number): void {
    const path = this.#pairs.choose(now)?.path
    if (path === undefined || path === this.#announced) return
    this.#announced = path
    this.#handlers.onSelected(path)
  }
}
