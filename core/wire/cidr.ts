/** Address ranges in CIDR notation (RFC 4632, RFC 4291 §2.3), matched without strings. Pure. */

import { type Address, toAddress } from './address.ts'

/** A range of addresses; an IPv4 range is kept as the mapped IPv6 one. */
export interface Cidr {
  readonly network: Address
  /** The four mask words, as signed 32-bit integers. */
  readonly mask: readonly [number, number, number, number]
}

/** A range from `10.0.0.0/8`, `fd00::/8` or a bare ip; undefined when it is none. */
export function parseCidr(text: string): Cidr | undefined {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text)
  const network = match && toAddress(match[1]!, 0)
  if (!network) return undefined
  const isDotted = !match[1]!.includes(':')
  const width = isDotted ? 32 : 128
  const length = match[2] === undefined ? width : Number(match[2])
  if (length > width) return undefined
  const bits = isDotted ? 96 + length : length
  const word = (i: number): number => {
    const n = Math.min(32, Math.max(0, bits - 32 * i))
    return n === 0 ? 0 : -1 << (32 - n)
  }
  const mask = [word(0), word(1), word(2), word(3)] as const
  network.set(network.w0 & mask[0], network.w1 & mask[1], network.w2 & mask[2], network.w3 & mask[3], 0)
  return { network, mask }
}

/** The ranges of texts that are known to be good; what is none is left out. */
export function parseCidrs(texts: readonly string[]): Cidr[] {
  return texts.flatMap((text) => parseCidr(text) ?? [])
}

/** Whether the address lies in one of the ranges. An IPv6 range holds no IPv4 address: ::/0 is not the whole world. */
export function inCidrs(ranges: readonly Cidr[], a: Address): boolean {
  for (const { network: n, mask: m } of ranges) {
    if (n.isIPv4 !== a.isIPv4) continue
    if ((a.w0 & m[0]) === n.w0 && (a.w1 & m[1]) === n.w1 && (a.w2 & m[2]) === n.w2 && (a.w3 & m[3]) === n.w3)
      return true
  }
  return false
}
