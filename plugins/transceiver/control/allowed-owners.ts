/** The transceivers that may be asked: inside the operator's CIDRs and ports. Pure. */

import {
  type Address,
  type Cidr,
  inCidrs,
  inPorts,
  type PortRange,
  parseCidr,
  parsePortRange,
} from '../../../core/index.ts'

/** Decides who may be asked, and from where requests are taken. */
export class AllowedOwners {
  readonly #cidrs: readonly Cidr[]
  readonly #ports: PortRange | undefined

  /** Texts that are known to be good; what is not, allows nothing. */
  constructor(allow: { readonly cidrs: readonly string[]; readonly ports: string }) {
    this.#cidrs = allow.cidrs.flatMap((text) => parseCidr(text) ?? [])
    this.#ports = parsePortRange(allow.ports)
  }

  /** Whether an owner may be there. */
  has(address: Address): boolean {
    const ports = this.#ports
    return ports !== undefined && inPorts(ports, address.port) && this.hasHost(address)
  }

  /** The same, whatever the port: connections come from any. */
  hasHost(address: Address): boolean {
    return !address.isUnspecified && inCidrs(this.#cidrs, address)
  }
}
