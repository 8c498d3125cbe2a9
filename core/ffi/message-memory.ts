/**
 * Memory for messages as `recvmmsg` and `sendmmsg` want them, laid out once; it never moves.
 *
 * A `struct mmsghdr` of 64-bit Linux has 64 bytes: name 0, namelen 8, iov 16, iovlen 24, control 32, controllen 40,
 * flags 48, length of the datagram 56. A `struct iovec` has 16: base 0, length 8.
 */

import { HEAD_ROOM, MAX_DATAGRAM } from '../contracts/udp-port.ts'
import { addressOf } from './native.ts'
import { NAME_SIZE } from './socket-name.ts'

/** Bytes of a slot: head room, the largest datagram, room behind. An odd number of cache lines: slots spread over the sets. */
export const SLOT_BYTES = 2240

/** Bytes of a message's header, and of one part of its vector. */
export const HEADER = 64
export const VECTOR = 16

/** `MSG_DONTWAIT`. */
export const DONT_WAIT = 0x40

/** `EAGAIN`: the socket's buffer is full, for whatever comes next too. */
export const EAGAIN = 11

/** How much memory `count` messages with slots take. */
export function memoryBytes(count: number): number {
  return count * (SLOT_BYTES + HEADER + VECTOR + NAME_SIZE)
}

/** Memory for `count` messages: slots, headers, vectors and names, and the byte at which each part begins. */
export class MessageMemory {
  readonly bytes: Buffer
  readonly words: Uint32Array
  readonly base: number
  readonly headers: number
  readonly vectors: number
  readonly names: number
  readonly extra: number

  /**
   * Without slots where the datagrams lie elsewhere; `extra` bytes behind everything are the caller's. In `shared`
   * memory of `memoryBytes`, what lies there stays: another thread may have received it.
   */
  constructor(count: number, hasSlots: boolean, extra = 0, shared?: SharedArrayBuffer) {
    this.headers = hasSlots ? count * SLOT_BYTES : 0
    this.vectors = this.headers + count * HEADER
    this.names = this.vectors + count * VECTOR
    this.extra = this.names + count * NAME_SIZE
    const size = this.extra + extra
    this.bytes = shared ? Buffer.from(shared) : Buffer.allocUnsafeSlow(size).fill(0)
    if (this.bytes.length < size) throw new RangeError(`${count} messages take ${size} bytes`)
    this.words = new Uint32Array(this.bytes.buffer, 0, size >>> 2)
    this.base = addressOf(this.bytes)
    for (let i = 0; i < count; i++) this.#lay(i, hasSlots)
  }

  /** Writes the address of the byte at `target` to the one at `at`. */
  point(at: number, target: number): void {
    const address = this.base + target
    this.words[at >>> 2] = address >>> 0
    this.words[(at >>> 2) + 1] = Math.floor(address / 2 ** 32)
  }

  #lay(i: number, hasSlot: boolean): void {
    const header = this.headers + i * HEADER
    this.point(header, this.names + i * NAME_SIZE)
    this.words[(header + 8) >>> 2] = NAME_SIZE
    this.point(header + 16, this.vectors + i * VECTOR)
    this.words[(header + 24) >>> 2] = 1
    if (!hasSlot) return
    this.point(this.vectors + i * VECTOR, i * SLOT_BYTES + HEAD_ROOM)
    this.words[(this.vectors + i * VECTOR + 8) >>> 2] = MAX_DATAGRAM
  }
}
