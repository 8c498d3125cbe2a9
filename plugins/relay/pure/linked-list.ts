/** A list whose items carry their own links, so that moving one allocates nothing. */

/** What an item of a list has; both undefined while it is in none. */
export interface Linked<T> {
  older: T | undefined
  newer: T | undefined
}

/** Items by age, oldest first. An item is in at most one list. */
export class LinkedList<T extends Linked<T>> {
  oldest: T | undefined
  newest: T | undefined
  size = 0

  /** Adds an item as the newest. */
  push(item: T): void {
    item.older = this.newest
    item.newer = undefined
    if (this.newest) this.newest.newer = item
    else this.oldest = item
    this.newest = item
    this.size++
  }

  /** Takes out an item that is in this list. */
  remove(item: T): void {
    if (item.older) item.older.newer = item.newer
    else this.oldest = item.newer
    if (item.newer) item.newer.older = item.older
    else this.newest = item.older
    item.older = undefined
    item.newer = undefined
    this.size--
  }
}
