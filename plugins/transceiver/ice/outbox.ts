/**
 * What an agent sends: success and error responses, and its own checks. All of it counts against the budget of an
 * address that is not validated. Pure, but for the handler that sends.
 */

import {
  type BindingErrorCode,
  STUN_ROOM,
  type StunMessage,
  writeBindingError,
  writeBindingRequest,
  writeBindingSuccess,
} from '../../../core/index.ts'
import type { Generation } from './generation.ts'
import type { Pair } from './pairs.ts'
import type { Path } from './path.ts'

/** PRIORITY of the peer-reflexive candidate our checks would make (RFC 8445 §5.1.2, §7.1.1). */
const OUR_PRIORITY = 0x6effffff

const out = Buffer.alloc(STUN_ROOM)

/** Sends bytes[start, end); they are reused after it returns. */
export type SendStun = (bytes: Uint8Array, start: number, end: number, path: Path) => void

/** One agent's way out. Each method gives false when the address has had three times what it sent. */
export class Outbox {
  readonly #send: SendStun
  readonly #tieBreaker: Buffer

  /** `tieBreaker` is 8 random bytes. */
  constructor(send: SendStun, tieBreaker: Uint8Array) {
    this.#send = send
    this.#tieBreaker = Buffer.from(tieBreaker)
  }

  /** Answers a check with success. */
  success(request: StunMessage, generation: Generation, pair: Pair, path: Path): boolean {
    const { bytes, transactionAt } = request
    return this.#reply(
      writeBindingSuccess(out, 0, bytes, transactionAt, path.client, generation.localKey),
      pair,
      path,
    )
  }

  /** Answers a check with an error. */
  refusal(
    code: BindingErrorCode,
    request: StunMessage,
    generation: Generation,
    pair: Pair | undefined,
    path: Path,
  ): boolean {
    const { bytes, transactionAt: at, unknown, unknownCount } = request
    const key = generation.localKey
    return this.#reply(writeBindingError(out, 0, bytes, at, code, unknown, unknownCount, key), pair, path)
  }

  /** Sends a try of the pair's own check. */
  check(pair: Pair, generation: Generation): boolean {
    const request = { username: generation.outgoing, priority: OUR_PRIORITY, tieBreaker: this.#tieBreaker }
    const length = writeBindingRequest(out, 0, pair.check.id, 0, request, generation.remoteKey)
    return this.#reply(length, pair, pair.path)
  }

  /** An answer is never longer than three times its request, so an address without a pair needs no account. */
  #reply(length: number, pair: Pair | undefined, path: Path): boolean {
    if (pair && !pair.validated && !pair.budget.take(length)) return false
    this.#send(out, 0, length, path)
    return true
  }
}
