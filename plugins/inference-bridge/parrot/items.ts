/** The items of one conversation: their ids, their order, and the latest few as they are. Pure. */

import type { JsonObject, JsonValue } from '../../../core/index.ts'

/** So many can be asked for again. */
const MOST = 16

/** An item as clients are told of it. */
export type Item = JsonObject & { id: string }

/** A conversation's items. */
export class Items {
  readonly #items = new Map<string, Item>()
  #made = 0
  #last: string | null = null

  /** An id that no other item of ours has. */
  newId(): string {
    return `item_${++this.#made}`
  }

  /** Puts an item behind all others. Returns the id of the one before it, null for the first. */
  add(item: Item): string | null {
    const previous = this.#last
    this.#last = item.id
    this.#items.delete(item.id)
    this.#items.set(item.id, item)
    const [oldest] = this.#items.keys()
    if (this.#items.size > MOST && oldest !== undefined) this.#items.delete(oldest)
    return previous
  }

  /** What has become of an item, if it is still known. */
  change(item: Item): void {
    if (this.#items.has(item.id)) this.#items.set(item.id, item)
  }

  /** The item of that id, if it is one of the latest. */
  get(id: JsonValue | undefined): Item | undefined {
    return typeof id === 'string' ? this.#items.get(id) : undefined
  }
}

/** A message of the parrot's. */
export function answerItem(id: string, status: string, content: JsonObject[]): Item {
  return { id, object: 'realtime.item', type: 'message', role: 'assistant', status, content }
}
