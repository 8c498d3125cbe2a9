/**
 * The client addresses a session knows, and which of them carries media. A few are remembered; strangers cannot
 * push out what is proven. Pure.
 *
 * Among validated pairs checked within 13 s the highest PRIORITY carries media; of equals, the one that was last
 * shown to be in use: validated, or where the client's media began to come from. With none fresher the current one
 * stays, so a client that nominates all its pairs in turn moves nothing. A client that for a second sends media
 * from one pair alone has made its own choice, and is followed there.
 */

import type { Address } from '../../../core/index.ts'
import { Budget } from './budget.ts'
import { clonePath, type Path, sameEnds } from './path.ts'
import { PathCheck } from './path-check.ts'

/** How long a check keeps a pair eligible (RFC 7675 checks come up to 6 s apart), in milliseconds. */
const FRESH = 13_000

/** How many pairs a session remembers. */
const MOST_PAIRS = 8

/** A pair that is not in use is forgotten this long after its last check, in milliseconds. */
export const FORGET = 60_000

/** How long media must come from one pair alone until that outweighs PRIORITY, in milliseconds. */
export const SETTLED = 1000

/** A client address and the address of ours it sends to. */
export class Pair {
  path: Path
  /** The PRIORITY of its last check, 0 until one says. */
  priority = 0
  validated = false
  /** When its last fresh check came. */
  lastCheckAt = Number.NEGATIVE_INFINITY
  /** Something other than STUN was sent there, so a handshake that ends there proves it arrives. */
  reached = false
  /** Rises with each proof of use; the later wins among equals. */
  proof = 0
  readonly budget = new Budget()
  readonly check = new PathCheck()

  constructor(path: Path) {
    this.path = clonePath(path)
  }
}

/** The pairs of one session. */
export class Pairs {
  readonly #pairs: Pair[] = []
  #selected: Pair | undefined
  /** The pair media came from last, and since when from it alone. */
  #carrier: Pair | undefined
  #carrierSince = 0
  #proofs = 0

  /** The pair that carries media: always a validated one. */
  get selected(): Pair | undefined {
    return this.#selected
  }

  get all(): readonly Pair[] {
    return this.#pairs
  }

  /** The pair with the path's two ends, by whatever relay. */
  find(path: Path): Pair | undefined {
    for (const pair of this.#pairs) if (sameEnds(pair.path, path)) return pair
    return undefined
  }

  /** A validated pair with this client, whatever address of ours it sends to. */
  findClient(client: Address): Pair | undefined {
    for (const pair of this.#pairs) if (pair.validated && pair.path.client.equals(client)) return pair
    return undefined
  }

  /** Adds a pair for a path that has none. When all places are taken, call `crowded` and `remove` first. */
  add(path: Path): Pair {
    const pair = new Pair(path)
    this.#pairs.push(pair)
    return pair
  }

  /** Who must go before another pair is added: the oldest unvalidated, else the longest unchecked; never the selected. */
  crowded(): Pair | undefined {
    if (this.#pairs.length < MOST_PAIRS) return undefined
    let out: Pair | undefined
    for (const pair of this.#pairs) {
      if (pair === this.#selected) continue
      if (!pair.validated) return pair
      if (!out || pair.lastCheckAt < out.lastCheckAt) out = pair
    }
    return out
  }

  /** A pair that nothing was heard of for a minute, or undefined; never the selected. */
  stale(now: number): Pair | undefined {
    for (const pair of this.#pairs) {
      if (pair !== this.#selected && now - pair.lastCheckAt > FORGET) return pair
    }
    return undefined
  }

  remove(pair: Pair): void {
    this.#pairs.splice(this.#pairs.indexOf(pair), 1)
    if (this.#carrier === pair) this.#carrier = undefined
  }

  /** The client was shown to receive there. */
  validate(pair: Pair): void {
    pair.validated = true
    pair.check.stop()
    pair.proof = ++this.#proofs
    // The client has appeared somewhere at least as good: where its media came from before says nothing now.
    if (this.#carrier && pair.priority >= this.#carrier.priority) this.#carrier = undefined
  }

  /** Whether media from `pair` is no news. */
  carries(pair: Pair): boolean {
    return this.#carrier === pair && this.#selected === pair
  }

  /** An authenticated, fresh packet of media came from a validated pair. */
  carried(now: number, pair: Pair): void {
    if (this.#carrier === pair) return
    this.#carrier = pair
    this.#carrierSince = now
    pair.proof = ++this.#proofs
  }

  /** Chooses anew; the selected pair afterwards. */
  choose(now: number): Pair | undefined {
    const carrier = this.#carrier
    if (carrier && now - this.#carrierSince >= SETTLED && eligible(carrier, now)) this.#selected = carrier
    else this.#selected = this.#best(now) ?? this.#selected ?? this.#pairs.find((pair) => pair.validated)
    return this.#selected
  }

  #best(now: number): Pair | undefined {
    let best: Pair | undefined
    for (const pair of this.#pairs) {
      if (eligible(pair, now) && (!best || outranks(pair, best))) best = pair
    }
    return best
  }
}

function eligible(pair: Pair, now: number): boolean {
  return pair.validated && now - pair.lastCheckAt <= FRESH
}

function outranks(a: Pair, b: Pair): boolean {
  return a.priority > b.priority || (a.priority === b.priority && a.proof > b.proof)
}
