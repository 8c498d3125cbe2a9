/** An address that clients send to, with relays behind it among which a balancer shares them out. */

import type { Address } from '../../core/index.ts'
import type { FleetRelay } from './fleet-relay.ts'

/** One such address. */
export class Front {
  readonly address: Address
  readonly relays: readonly FleetRelay[]
  readonly #below: (limit: number) => number
  /** By client, which relay it goes by. */
  readonly #lanes = new Map<number, number>()

  /** `below` gives a random whole number under its argument. */
  constructor(relays: readonly FleetRelay[], below: (limit: number) => number) {
    this.address = relays[0]!.place.front
    this.relays = relays
    this.#below = below
  }

  /** The relay that a client goes by. */
  relayOf(client: Address): FleetRelay {
    return this.relays[this.#laneOf(client)]!
  }

  /** The balancer sends a client by the next relay. */
  rehash(client: Address): void {
    this.#lanes.set(keyOf(client), (this.#laneOf(client) + 1) % this.relays.length)
  }

  #laneOf(client: Address): number {
    const known = this.#lanes.get(keyOf(client))
    if (known !== undefined) return known
    const lane = this.#below(this.relays.length)
    this.#lanes.set(keyOf(client), lane)
    return lane
  }
}

/** A number that no other IPv4 address has. */
export function keyOf({ w3, port }: Address): number {
  return (w3 >>> 0) * 65_536 + port
}
