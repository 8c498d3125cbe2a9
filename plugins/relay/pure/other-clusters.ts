/** Where the relays of other clusters are, as far as it is known. Set from outside, away from the packet path. */

import type { Address } from '../../../core/index.ts'

/** The relays of other clusters, by cluster number. */
export class OtherClusters {
  readonly #relays = new Map<number, Address | undefined>()
  readonly #listeners = new Set<(cluster: number, relay: Address) => void>()

  /** `clusters` are those that the operator named. */
  constructor(clusters: Iterable<number> = []) {
    for (const cluster of clusters) this.#relays.set(cluster, undefined)
  }

  /** Whether the operator named it. */
  has(cluster: number): boolean {
    return this.#relays.has(cluster)
  }

  /** Its relay; undefined while that is not known. Not to be changed. */
  relayOf(cluster: number): Address | undefined {
    return this.#relays.get(cluster)
  }

  /** Its relay is there from now on. */
  set(cluster: number, relay: Address): void {
    if (this.#relays.get(cluster)?.equals(relay)) return
    this.#relays.set(cluster, relay)
    for (const hear of this.#listeners) hear(cluster, relay)
  }

  /** All that the operator named, each with its relay. */
  all(): [cluster: number, relay: Address | undefined][] {
    return [...this.#relays]
  }

  /** Calls `hear` with each change, until what this returns is called. */
  onChange(hear: (cluster: number, relay: Address) => void): () => void {
    this.#listeners.add(hear)
    return () => void this.#listeners.delete(hear)
  }
}
