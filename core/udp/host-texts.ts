/**
 * Address words ⇄ the text that node:dgram wants, without making a string or an array for each packet: what was
 * converted a moment ago is kept in small tables of fixed size.
 */

import type { Address } from '../wire/address.ts'

const TEXTS = 1024
const PARSED_MAX = 1024

/** The conversions of one socket. */
export class HostTexts {
  readonly #mapped: boolean
  readonly #addresses: (Address | undefined)[] = new Array(TEXTS).fill(undefined)
  readonly #texts: string[] = new Array<string>(TEXTS).fill('')
  readonly #parsed = new Map<string, Address>()

  /** `mapped`: the socket is IPv6, so that IPv4 must be written as `::ffff:a.b.c.d`. */
  constructor(mapped: boolean) {
    this.#mapped = mapped
  }

  /** The ip of `address` as the socket wants it. */
  text(address: Address): string {
    const at =
      (Math.imul(address.w3 ^ Math.imul(address.w2 ^ address.w1, 0x9e3779b1), 0x85ebca6b) >>> 16) % TEXTS
    const known = this.#addresses[at]
    if (known?.sameHost(address)) return this.#texts[at]!
    const host = this.#mapped && address.isIPv4 ? `::ffff:${address.host}` : address.host
    if (known === undefined) this.#addresses[at] = address.clone()
    else known.copy(address)
    this.#texts[at] = host
    return host
  }

  /** Reads an ip that the socket gave into `into`; false when it is none. */
  parse(host: string, port: number, into: Address): boolean {
    if (!host.includes(':')) return into.parseHost(host, port)
    const known = this.#parsed.get(host)
    if (known !== undefined) {
      into.copy(known)
      into.port = port
      return true
    }
    if (!into.parseHost(host, port)) return false
    // Emptied rather than trimmed: no bookkeeping for each packet, and a flood of sources costs only parsing.
    if (this.#parsed.size >= PARSED_MAX) this.#parsed.clear()
    this.#parsed.set(host, into.clone())
    return true
  }
}
