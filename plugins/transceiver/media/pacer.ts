/**
 * The one clock that all calls' audio leaves by: a slot every 20 ms, counted from the clock's making, so that
 * the n-th slot is due at 20·n ms however late the timer of the slots before it came.
 */

/** Milliseconds a slot lasts. */
export const SLOT_MS = 20
/** After a stall, at most so many slots are made up for; the rest are skipped, which delays audio but loses none. */
const MAX_CATCH_UP = 5

/** Something to do in every slot. */
export interface Paced {
  /** `slot` counts up, with gaps where slots were skipped or nobody was registered. */
  tick(now: number, slot: number): void
}

/** Where time and timers come from; the process's own unless a test injects others. */
export interface PlayoutClockOptions {
  /** Milliseconds, monotonic. Everything else that is given a `now` must be given this clock's. */
  readonly now?: () => number
  /** Runs `run` once in `ms`; what it answers takes that back. */
  readonly schedule?: (run: () => void, ms: number) => () => void
  /** Hears what a member threw; the member is taken off the clock and the others go on. */
  readonly onFault?: (error: unknown, member: Paced) => void
}

/** Ticks its members; sets no timer while there are none. */
export class PlayoutClock {
  readonly now: () => number
  readonly #schedule: (run: () => void, ms: number) => () => void
  readonly #onFault: (error: unknown, member: Paced) => void
  readonly #members = new Set<Paced>()
  readonly #epoch: number
  readonly #run = (): void => this.#fire()
  #cancel: (() => void) | undefined
  #firing = false
  #slot = 0

  constructor(options: PlayoutClockOptions = {}) {
    this.now = options.now ?? (() => performance.now())
    this.#schedule = options.schedule ?? schedule
    this.#onFault = options.onFault ?? (() => {})
    this.#epoch = this.now()
  }

  /** How many members there are. */
  get size(): number {
    return this.#members.size
  }

  /** When a slot is due, which may be a fraction: the instant `now` in slots. */
  slotAt(now: number): number {
    return (now - this.#epoch) / SLOT_MS
  }

  /** Ticks `member` from the next slot on. Idempotent. */
  register(member: Paced): void {
    this.#members.add(member)
    if (this.#firing || this.#cancel) return
    this.#slot = Math.floor(this.slotAt(this.now())) + 1
    this.#arm()
  }

  /** Ticks `member` no more. Idempotent; a member may do so from within its tick. */
  unregister(member: Paced): void {
    this.#members.delete(member)
    if (this.#members.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  #arm(): void {
    const due = this.#epoch + this.#slot * SLOT_MS
    this.#cancel = this.#schedule(this.#run, Math.max(1, Math.ceil(due - this.now())))
  }

  #fire(): void {
    this.#cancel = undefined
    this.#firing = true
    const current = Math.floor(this.slotAt(this.now()))
    this.#slot = Math.max(this.#slot, current - MAX_CATCH_UP + 1)
    for (; this.#slot <= current && this.#members.size > 0; this.#slot++) {
      for (const member of this.#members) this.#tick(member)
    }
    this.#firing = false
    if (this.#members.size > 0) this.#arm()
  }

  #tick(member: Paced): void {
    try {
      member.tick(this.now(), this.#slot)
    } catch (error) {
      this.unregister(member)
      this.#onFault(error, member)
    }
  }
}

function schedule(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
