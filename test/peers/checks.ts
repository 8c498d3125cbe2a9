/**
 * The ICE of a browser that calls a lite or full server at one address: it checks with USE-CANDIDATE, repeats its
 * checks for consent, and answers the server's own. Datagrams and time are inputs.
 */

import { randomBytes } from 'node:crypto'
import {
  type Address,
  IntegrityKey,
  STUN_BINDING_REQUEST,
  STUN_BINDING_SUCCESS,
  STUN_HEADER_LENGTH,
  STUN_ROOM,
  StunMessage,
  TRANSACTION_ID,
  writeBindingSuccess,
} from '../../core/index.ts'
import { MAGIC_COOKIE, StunAttribute } from '../../core/wire/stun-attributes.ts'
import { appendFingerprint } from '../../core/wire/stun-integrity.ts'

/** One side's user fragment and password. */
export interface Credentials {
  readonly ufrag: string
  readonly pwd: string
}

/** What goes into a client's check. */
export interface Check {
  /** `<server's ufrag>:<client's ufrag>`. */
  readonly username: string
  readonly priority: number
  readonly useCandidate: boolean
  /** Default: the controlling role, as every caller of a lite server has. */
  readonly controlled?: boolean
  readonly tieBreaker: Buffer
}

/** Writes a Binding request at `out`'s start and gives its end. STUN_ROOM bytes are enough. */
export function writeCheck(out: Buffer, id: Buffer, check: Check, key: IntegrityKey): number {
  out.writeUInt16BE(STUN_BINDING_REQUEST, 0)
  out.writeUInt32BE(MAGIC_COOKIE, 4)
  id.copy(out, 8, 0, TRANSACTION_ID)
  const priority = Buffer.alloc(4)
  priority.writeUInt32BE(check.priority)
  let at = attribute(out, STUN_HEADER_LENGTH, StunAttribute.username, Buffer.from(check.username))
  const role = check.controlled ? StunAttribute.iceControlled : StunAttribute.iceControlling
  at = attribute(out, at, role, check.tieBreaker)
  if (check.useCandidate) at = attribute(out, at, StunAttribute.useCandidate, Buffer.alloc(0))
  at = attribute(out, at, StunAttribute.priority, priority)
  return appendFingerprint(out, 0, key.sign(out, 0, at))
}

function attribute(out: Buffer, at: number, type: number, value: Buffer): number {
  out.writeUInt16BE(type, at)
  out.writeUInt16BE(value.length, at + 2)
  value.copy(out, at + 4)
  const end = at + 4 + value.length
  const next = (end + 3) & ~3
  out.fill(0, end, next)
  return next
}

/** How `Checks` behaves and whom it tells. */
export interface ChecksOptions {
  readonly local: Credentials
  readonly remote: Credentials
  /** Milliseconds between checks once one was answered; Infinity for none. Default 2500. */
  readonly intervalMs?: number
  /** Default 0x6e7f00ff: a host candidate seen by its peer, as Chromium has it. */
  readonly priority?: number
  readonly useCandidate?: boolean
  /** Send bytes[start, end); they are reused after it returns. */
  send(bytes: Buffer, start: number, end: number): void
  /** The server answered a check; `mapped` is where it saw us, good during the call only. */
  onAnswered(roundTripMs: number, mapped: Address): void
}

/** How long an unanswered check is waited for before the next, in milliseconds: the last one repeats. */
const RETRIES: readonly number[] = [50, 100, 200, 400, 500]
const REMEMBERED = 16

/** A client's checks. */
export class Checks {
  /** False: the server's own checks are left unanswered, as by an address that hears nothing. */
  answers = true
  readonly counters = { sent: 0, answered: 0, asked: 0, replied: 0, refused: 0, strange: 0 }
  readonly #o: ChecksOptions
  readonly #local: IntegrityKey
  readonly #remote: IntegrityKey
  readonly #expects: Buffer
  readonly #check: Check
  readonly #message = new StunMessage()
  readonly #out = Buffer.alloc(STUN_ROOM)
  /** Transaction id in hex → when it was sent. */
  readonly #pending = new Map<string, number>()
  #nextAt = Infinity
  #attempt = 0

  constructor(options: ChecksOptions) {
    const { local, remote } = options
    this.#o = options
    this.#local = new IntegrityKey(local.pwd)
    this.#remote = new IntegrityKey(remote.pwd)
    this.#expects = Buffer.from(`${local.ufrag}:${remote.ufrag}`)
    this.#check = {
      username: `${remote.ufrag}:${local.ufrag}`,
      priority: options.priority ?? 0x6e7f00ff,
      useCandidate: options.useCandidate ?? true,
      tieBreaker: randomBytes(8),
    }
  }

  /** Begins, or begins anew from another address: checks in quick succession until one is answered. */
  start(now: number): void {
    this.#attempt = 0
    this.#send(now)
  }

  /** Sends nothing by itself any more. */
  stop(): void {
    this.#nextAt = Infinity
  }

  tick(now: number): void {
    if (now >= this.#nextAt) this.#send(now)
  }

  /** Takes a STUN datagram from `source`. */
  receive(now: number, bytes: Buffer, start: number, end: number, source: Address): void {
    const message = this.#message
    if (message.parse(bytes, start, end) !== 'ok') this.counters.strange++
    else if (message.type === STUN_BINDING_SUCCESS) this.#onAnswer(now)
    else if (message.type === STUN_BINDING_REQUEST) this.#onRequest(source)
    else if (message.errorCode > 0) this.counters.refused++
    else this.counters.strange++
  }

  #send(now: number): void {
    const id = randomBytes(TRANSACTION_ID)
    this.#pending.set(id.toString('hex'), now)
    if (this.#pending.size > REMEMBERED) this.#pending.delete(this.#pending.keys().next().value ?? '')
    this.#nextAt = now + RETRIES[Math.min(this.#attempt++, RETRIES.length - 1)]!
    this.counters.sent++
    this.#o.send(this.#out, 0, writeCheck(this.#out, id, this.#check, this.#remote))
  }

  #onAnswer(now: number): void {
    const message = this.#message
    const id = message.bytes.toString('hex', message.transactionAt, message.transactionAt + TRANSACTION_ID)
    const sentAt = this.#pending.get(id)
    if (sentAt === undefined || !message.hasMapped || !message.hasIntegrity(this.#remote)) {
      this.counters.strange++
      return
    }
    this.#pending.delete(id)
    this.counters.answered++
    if (this.#nextAt !== Infinity) this.#nextAt = now + (this.#o.intervalMs ?? 2500)
    this.#attempt = 0
    this.#o.onAnswered(now - sentAt, message.mapped)
  }

  #onRequest(source: Address): void {
    const message = this.#message
    this.counters.asked++
    if (!message.hasUsername(this.#expects) || !message.hasIntegrity(this.#local)) {
      this.counters.strange++
      return
    }
    if (!this.answers) return
    this.counters.replied++
    const { bytes, transactionAt } = message
    this.#o.send(this.#out, 0, writeBindingSuccess(this.#out, 0, bytes, transactionAt, source, this.#local))
  }
}
