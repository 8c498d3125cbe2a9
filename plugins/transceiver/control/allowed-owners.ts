/** The transceivers that may be asked: inside the operator's CIDRs and ports. Pure. */

import { type Address, type Cidr, inCidrs, parseCidr } from '../../../core/index.ts'

/** An inclusive range of ports. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

/** A range from `3479` or `3479-3490`; undefined when it is none, is empty or contains port 0. */
export function parsePorts(text: string): PortRange | undefined {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text)
  if (!match) return undefined
  const first = Number(match[1])
  const last = Number(match[2] ?? match[1])
  return first < 1 || last > 65_535 || first > last ? undefined : { first, last }
}

/** Decides who may be asked, and from where requests are taken. */
export class AllowedOwners {
  readonly #cidrs: readonly Cidr[]
  readonly #ports: PortRange | undefined

  /** Texts that are known to be good; what is not, allows nothing. */
  constructor(allow: { readonly cidrs: readonly string[]; readonly ports: string }) {
    this.#cidrs = allow.cidrs.flatMap((text) => parseCidr(text) ?? [])
    this.#ports = parsePorts(allow.ports)
  }

  /** Whether an owner may be there. */
  has(address: Address): boolean {
    const ports = this.#ports
    const fits = ports !== undefined && address.port >= ports.first && address.port <= ports.last
    return fits && this.hasHost(address)
  }

  /** The same, whatever the port: connections come from any. */
  hasHost(address: Address): boolean {
    return !address.isUnspecified && inCidrs(this.#cidrs, address)
  }
}
