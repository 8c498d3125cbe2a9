/** Where an operator allows us to send, or to be sent from: addresses inside CIDRs, on ports of a range. Pure. */

import type { Address } from './address.ts'
import { type Cidr, inCidrs, parseCidrs } from './cidr.ts'
import { inPorts, type PortRange } from './ports.ts'

/** The allowed addresses. */
export class AllowedAddresses {
  readonly #ranges: readonly Cidr[]
  readonly #ports: PortRange

  /** CIDRs as text, known to be good; one that is not allows nothing. */
  constructor(cidrs: readonly string[], ports: PortRange) {
    this.#ranges = parseCidrs(cidrs)
    this.#ports = ports
  }

  /** Whether this ip and port are allowed. */
  has(address: Address): boolean {
    return inPorts(this.#ports, address.port) && this.hasHost(address)
  }

  /** The same, whatever the port: connections come from any. */
  hasHost(address: Address): boolean {
    return !address.isUnspecified && inCidrs(this.#ranges, address)
  }
}
