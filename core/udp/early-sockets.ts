/**
 * Sockets that were opened before anything else of a start, so that the kernel keeps what comes meanwhile. Whoever opens
 * the same address in earnest gets the one that is there; those that nobody wanted are closed when the start is over.
 */

import { libc } from '../ffi/libc.ts'
import { openUdpSocket, type UdpSocket, type UdpSocketOptions } from '../ffi/udp-socket.ts'
import type { Address } from '../wire/address.ts'

const early = new Map<string, UdpSocket>()

/** Opens them, as far as they can be had: what cannot is told by whoever needs it. Port 0 is nobody's. */
export function openEarlySockets(addresses: readonly Address[], options: UdpSocketOptions): void {
  const calls = libc()
  if (calls === undefined) return
  for (const address of addresses) {
    if (address.port === 0 || early.has(address.toString())) continue
    try {
      early.set(address.toString(), openUdpSocket(calls, address, options))
    } catch {
      // The start will say why, with the address and what to do.
    }
  }
}

/** The socket that is open at an address already; it is the caller's from now on. */
export function takeEarlySocket(address: Address): UdpSocket | undefined {
  const socket = early.get(address.toString())
  early.delete(address.toString())
  return socket
}

/** Closes those that nobody took. */
export function closeEarlySockets(): void {
  for (const { fd } of early.values()) libc()?.close(fd)
  early.clear()
}
