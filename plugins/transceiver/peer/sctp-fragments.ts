/** Puts the fragments of SCTP messages together by their TSNs (RFC 9260 §6.9). Pure. */

/** One DATA chunk. `flags` as in RFC 9260 §3.3.1: 1 ends a message, 2 begins one, 4 is unordered. */
export interface Fragment {
  readonly tsn: number
  readonly streamId: number
  readonly sequence: number
  readonly protocol: number
  readonly flags: number
  readonly data: Buffer
}

/** Bits of `Fragment.flags`. */
export const END = 1
export const BEGIN = 2
export const UNORDERED = 4

/** Fragments with consecutive TSNs that belong to one message, whole once it has a beginning and an end. */
export interface Run {
  readonly fragments: Fragment[]
  bytes: number
  first: Fragment
  last: Fragment
}

/** All runs of an association that are not whole yet. */
export class Runs {
  readonly #byFirst = new Map<number, Run>()
  readonly #byLast = new Map<number, Run>()

  /** Puts a fragment to its neighbours and returns the run it is in; undefined when they contradict it. */
  add(fragment: Fragment): Run | undefined {
    let run: Run = { fragments: [fragment], bytes: fragment.data.length, first: fragment, last: fragment }
    const before = fragment.flags & BEGIN ? undefined : this.#byLast.get((fragment.tsn - 1) >>> 0)
    if (before && !(before.last.flags & END)) run = this.#merge(before, run)
    const after = fragment.flags & END ? undefined : this.#byFirst.get((fragment.tsn + 1) >>> 0)
    if (after && !(after.first.flags & BEGIN)) run = this.#merge(run, after)
    this.#byFirst.set(run.first.tsn, run)
    this.#byLast.set(run.last.tsn, run)
    return sameMessage(run.first, fragment) && sameMessage(run.last, fragment) ? run : undefined
  }

  /** Forgets a run. */
  remove(run: Run): void {
    this.#byFirst.delete(run.first.tsn)
    this.#byLast.delete(run.last.tsn)
  }

  /** Forgets the runs that begin at `tsn` or before, and returns them. */
  removeUpTo(tsn: number): Run[] {
    const old = [...this.#byFirst.values()].filter((run) => ((run.first.tsn - tsn) | 0) <= 0)
    for (const run of old) this.remove(run)
    return old
  }

  /** Forgets all. */
  clear(): void {
    this.#byFirst.clear()
    this.#byLast.clear()
  }

  #merge(a: Run, b: Run): Run {
    this.remove(a)
    this.remove(b)
    // Into the longer one, so that a fragment is moved a few times at most.
    if (a.fragments.length >= b.fragments.length) {
      for (const fragment of b.fragments) a.fragments.push(fragment)
      a.bytes += b.bytes
      a.last = b.last
      return a
    }
    b.fragments.unshift(...a.fragments)
    b.bytes += a.bytes
    b.first = a.first
    return b
  }
}

function sameMessage(a: Fragment, b: Fragment): boolean {
  return (
    a.streamId === b.streamId &&
    a.protocol === b.protocol &&
    ((a.flags ^ b.flags) & UNORDERED) === 0 &&
    ((a.flags & UNORDERED) !== 0 || a.sequence === b.sequence)
  )
}
