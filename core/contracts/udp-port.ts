/**
 * The one way to UDP. Two engines keep this contract: `dgram` everywhere, `batched` on Linux. The code that
 * decides what to do with a datagram is the same on both, so nothing here shows how a datagram was read.
 */

import type { ThreadUdp } from '../udp/thread-sockets.ts'
import type { Address } from '../wire/address.ts'

/** Bytes free in front of a received datagram, so that a header can be put there in place. */
export const HEAD_ROOM = 64

/** The largest datagram that is taken; a longer one is counted as truncated and dropped. */
export const MAX_DATAGRAM = 2048

/**
 * A received datagram: bytes[start, end). It belongs to the engine and is reused after the callback returns;
 * within it the receiver may write to the bytes, to the HEAD_ROOM bytes before `start` and, up to
 * `bytes.length`, behind `end`.
 */
export interface Datagram {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  /** Where it came from, canonical. Reused: `clone()` it to keep it. */
  readonly source: Address
}

/** Counters since the port was opened. */
export interface UdpCounters {
  received: number
  sent: number
  /** Longer than MAX_DATAGRAM. */
  truncated: number
  receiveErrors: number
  /** Refused by the kernel, or no room to queue it. */
  sendErrors: number
}

/** An open UDP port. */
export interface UdpPort {
  /** The address it is bound to, with the port that was really given. */
  readonly local: Address
  readonly counters: Readonly<UdpCounters>
  /** Sends bytes[start, end). Never throws, never blocks; the bytes are the caller's again on return. */
  send(bytes: Uint8Array, start: number, end: number, to: Address): void
  /** Stops receiving and frees the socket; what was queued is sent or dropped. Idempotent. */
  close(): Promise<void>
}

/** How to open a port. */
export interface UdpOptions {
  /** Where to bind; port 0 takes any. A specific ip, or 0.0.0.0 / :: for all. */
  readonly address: Address
  /** Called for each datagram, on the thread that opened the port. It must not throw; if it does, it is counted. */
  onDatagram(datagram: Datagram): void
  /** Called when a batch has been handed over; a good moment for work that is shared by several datagrams. */
  onBatchEnd?(): void
  /** Kernel buffer sizes in bytes, as far as the kernel grants them. Default 4 MiB. */
  readonly receiveBuffer?: number
  readonly sendBuffer?: number
  /** Datagrams taken into memory at a time, where the engine works in batches. Default 64; less for many small ports. */
  readonly batch?: number
}

/** Opens ports. Rejects with EdgeError `address_in_use` or `address_unavailable`, naming the address. */
export interface UdpEngine {
  readonly name: 'dgram' | 'batched' | 'memory'
  open(options: UdpOptions): Promise<UdpPort>
  /** Opens sockets that threads of their own read in batches; undefined on an engine that cannot. */
  readonly threads?: ThreadUdp
}
