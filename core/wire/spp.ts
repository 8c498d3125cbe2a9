/**
 * Cloudflare's Simple Proxy Protocol for UDP: 38 bytes in front of each datagram between relay and transceiver, in
 * both directions. Magic 0x56EC, client address (16 bytes), proxy address (16), client port (2), proxy port (2), all
 * big-endian; IPv4 as mapped IPv6, which is how `Address` keeps it. Read and written in place. Pure.
 */

import type { Address } from './address.ts'

/** The header's length in bytes. */
export const SPP_LENGTH = 38

const MAGIC_HIGH = 0x56
const MAGIC_LOW = 0xec

/**
 * Reads the header of bytes[start, end) into `client` and `proxy`; the payload begins SPP_LENGTH behind `start` and
 * may be empty. False, and neither address changed, when there is no header.
 */
export function readSpp(
  bytes: Uint8Array,
  start: number,
  end: number,
  client: Address,
  proxy: Address,
): boolean {
  if (end - start < SPP_LENGTH || bytes[start] !== MAGIC_HIGH || bytes[start + 1] !== MAGIC_LOW) return false
  client.read(bytes, start + 2, (bytes[start + 34]! << 8) | bytes[start + 35]!)
  proxy.read(bytes, start + 18, (bytes[start + 36]! << 8) | bytes[start + 37]!)
  return true
}

/** Writes the header to bytes[at, at + SPP_LENGTH); the caller sees to it that there is room. */
export function writeSpp(bytes: Uint8Array, at: number, client: Address, proxy: Address): void {
  bytes[at] = MAGIC_HIGH
  bytes[at + 1] = MAGIC_LOW
  client.write(bytes, at + 2)
  proxy.write(bytes, at + 18)
  bytes[at + 34] = client.port >>> 8
  bytes[at + 35] = client.port
  bytes[at + 36] = proxy.port >>> 8
  bytes[at + 37] = proxy.port
}
