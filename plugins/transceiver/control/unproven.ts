/**
 * Connections on which nothing signed has come yet, by the host they come from. A host gets only so many at a time, so
 * that one neighbour with nothing to say cannot take the places of all others. Pure: whoever accepts tells it.
 */

/** Counts them; `C` is a connection, known by its identity. */
export class Unproven<C extends object> {
  readonly #most: number
  readonly #hosts = new Map<string, number>()
  readonly #hostOf = new Map<C, string>()

  /** `most` is how many one host may have. */
  constructor(most: number) {
    this.#most = most
  }

  /** Notes a new connection; false, and not noted, when its host has as many as it may. */
  take(connection: C, host: string): boolean {
    const count = this.#hosts.get(host) ?? 0
    if (count >= this.#most) return false
    this.#hosts.set(host, count + 1)
    this.#hostOf.set(connection, host)
    return true
  }

  /** Frees its place: it has proven itself, or is gone. Again, nothing. */
  release(connection: C): void {
    const host = this.#hostOf.get(connection)
    if (host === undefined) return
    this.#hostOf.delete(connection)
    const left = (this.#hosts.get(host) ?? 1) - 1
    if (left > 0) this.#hosts.set(host, left)
    else this.#hosts.delete(host)
  }
}
