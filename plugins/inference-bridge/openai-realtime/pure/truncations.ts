/** How long each item's audio is, as far as it came, and where it was cut: so that no cut is made twice or too late. Pure. */

/** So many items are known, the newest. */
export const MAX_KNOWN = 512

interface Known {
  receivedMs: number
  cutAtMs: number
}

/** The cuts of one conversation. */
export class Truncations {
  readonly #known = new Map<string, Known>()

  /** More of an item's audio came. */
  received(itemId: string, contentIndex: number, ms: number): void {
    this.#get(itemId, contentIndex).receivedMs += ms
  }

  /** We cut it. */
  cut(itemId: string, contentIndex: number, ms: number): void {
    const known = this.#get(itemId, contentIndex)
    known.cutAtMs = Math.min(known.cutAtMs, ms)
  }

  /** Where a client's wish cuts: no later than what came; undefined when it has been cut there or before. */
  wish(itemId: string, contentIndex: number, ms: number): number | undefined {
    const known = this.#known.get(key(itemId, contentIndex))
    const at = Math.max(0, Math.floor(known ? Math.min(ms, known.receivedMs) : ms))
    if (known && at >= known.cutAtMs) return undefined
    if (known) known.cutAtMs = at
    return at
  }

  #get(itemId: string, contentIndex: number): Known {
    const name = key(itemId, contentIndex)
    let known = this.#known.get(name)
    if (known) return known
    if (this.#known.size >= MAX_KNOWN) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest)
        break
      }
    }
    known = { receivedMs: 0, cutAtMs: Number.POSITIVE_INFINITY }
    this.#known.set(name, known)
    return known
  }
}

function key(itemId: string, contentIndex: number): string {
  return `${itemId}/${contentIndex}`
}
