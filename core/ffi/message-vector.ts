/**
 * Datagrams in batches: the memory that `recvmmsg` fills and `sendmmsg` sends from, laid out once. Nothing is allocated
 * after construction, and nothing here throws.
 */

import { HEAD_ROOM, MAX_DATAGRAM } from '../contracts/udp-port.ts'
import type { Address } from '../wire/address.ts'
import type { Libc } from './libc.ts'
import { DONT_WAIT, EAGAIN, HEADER, MessageMemory, SLOT_BYTES, VECTOR } from './message-memory.ts'
import { AF_INET, AF_INET6, NAME_SIZE, nameLength, readName, writeName } from './socket-name.ts'

/** Bytes a sent datagram may have: the largest that is received, and a header in front. */
export const MAX_SENT = MAX_DATAGRAM + HEAD_ROOM

const TRUNCATED = 0x20

/** Received datagrams: slot `i` holds HEAD_ROOM bytes, then the i-th datagram of the last batch. */
export class ReceiveVector {
  readonly size: number
  /** The slots, each with room in front of its datagram and behind. */
  readonly slots: readonly Buffer[]
  readonly #memory: MessageMemory
  readonly #libc: Libc

  /** In `shared` memory of `memoryBytes(size)` another thread finds what this one received last. */
  constructor(libc: Libc, size: number, shared?: SharedArrayBuffer) {
    this.size = size
    this.#libc = libc
    this.#memory = new MessageMemory(size, true, 0, shared)
    const { bytes } = this.#memory
    this.slots = Array.from({ length: size }, (_, i) => bytes.subarray(i * SLOT_BYTES, (i + 1) * SLOT_BYTES))
  }

  /** The address in memory of the first byte of slot `i`. */
  address(i: number): number {
    return this.#memory.base + i * SLOT_BYTES
  }

  /** Takes what waits at a socket, without waiting for more: how many datagrams, or -1 when there is none. */
  receive(fd: number): number {
    const { base, headers } = this.#memory
    return this.#libc.recvmmsg(fd, base + headers, this.size, DONT_WAIT, 0)
  }

  /** Bytes of the i-th datagram. */
  length(i: number): number {
    return this.#memory.words[(this.#memory.headers + i * HEADER + 56) >>> 2]!
  }

  /** True when the i-th datagram was longer than MAX_DATAGRAM: its end is lost. */
  isTruncated(i: number): boolean {
    return (this.#memory.words[(this.#memory.headers + i * HEADER + 48) >>> 2]! & TRUNCATED) !== 0
  }

  /** Where the i-th datagram came from; false for no address of ours. */
  source(i: number, into: Address): boolean {
    return readName(this.#memory.words, (this.#memory.names + i * NAME_SIZE) >>> 2, into)
  }
}

/** Datagrams that wait to be sent together. */
export class SendVector {
  readonly size: number
  count = 0
  readonly #memory: MessageMemory
  readonly #libc: Libc
  readonly #family: number

  /** For a socket that is IPv4 or not. */
  constructor(libc: Libc, size: number, isIPv4: boolean) {
    this.size = size
    this.#libc = libc
    this.#family = isIPv4 ? AF_INET : AF_INET6
    this.#memory = new MessageMemory(size, true)
    const { words, headers } = this.#memory
    for (let i = 0; i < size; i++) words[(headers + i * HEADER + 8) >>> 2] = nameLength(this.#family)
  }

  /** Copies bytes[start, end), at most MAX_SENT, in; there must be room. */
  add(bytes: Uint8Array, start: number, end: number, to: Address): void {
    const { words, vectors, names } = this.#memory
    const i = this.count++
    Buffer.prototype.copy.call(bytes, this.#memory.bytes, i * SLOT_BYTES + HEAD_ROOM, start, end)
    words[(vectors + i * VECTOR + 8) >>> 2] = end - start
    writeName(words, (names + i * NAME_SIZE) >>> 2, this.#family, to)
  }

  /**
   * Sends what waits; how many datagrams the kernel refused. One that is refused costs the others nothing, but where the
   * socket's buffer is full the rest is given up.
   */
  flush(fd: number): number {
    const { base, headers } = this.#memory
    let refused = 0
    for (let at = 0; at < this.count; ) {
      const sent = this.#libc.sendmmsg(fd, base + headers + at * HEADER, this.count - at, DONT_WAIT)
      if (sent > 0) at += sent
      else {
        const lost = this.#libc.errno() === EAGAIN ? this.count - at : 1
        refused += lost
        at += lost
      }
    }
    this.count = 0
    return refused
  }
}
