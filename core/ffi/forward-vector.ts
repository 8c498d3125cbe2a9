/**
 * Datagrams that are sent on from where they were received, without a copy: each is named by its slot, and all leave by
 * one call. Nothing is allocated after construction, and nothing here throws.
 *
 * With `segments`, a run of datagrams of one size to one address becomes one message that the kernel cuts up (UDP GSO,
 * `UDP_SEGMENT`), the last of them shorter if it likes. What would not fit the path never joins a run, and a run that
 * is refused is sent again one by one: no client's datagram costs another's. Where the socket's buffer is full nothing
 * is tried again: what is left is given up.
 */

import type { Address } from '../wire/address.ts'
import type { Libc } from './libc.ts'
import { DONT_WAIT, EAGAIN, HEADER, MessageMemory, VECTOR } from './message-memory.ts'
import type { ReceiveVector } from './message-vector.ts'
import { AF_INET, AF_INET6, NAME_SIZE, nameLength, writeName } from './socket-name.ts'

const SOL_UDP = 17
const UDP_SEGMENT = 103
/** `struct cmsghdr` with a 16-bit value: its length 0, level 8, type 12, value 16. */
const CONTROL = 32
const CONTROL_LENGTH = 18
const CONTROL_SPACE = 24
/** An Ethernet's worth without the headers of IPv6 and UDP: what is longer may be too long for the path. */
const MAX_SEGMENT = 1452
const MAX_SEGMENTS = 40

/** Datagrams on their way from receive slots to one socket. */
export class ForwardVector {
  readonly size: number
  /** Datagrams added since the last flush. */
  count = 0
  /** Runs that the kernel refused and that went one by one. */
  splitRuns = 0
  readonly #memory: MessageMemory
  readonly #libc: Libc
  readonly #fd: number
  readonly #family: number
  readonly #segments: boolean
  readonly #last: Int32Array
  #messages = 0
  /** Datagrams in the last message, their size, and whether another may join. */
  #run = 0
  #segment = 0
  #isOpen = false

  constructor(libc: Libc, fd: number, size: number, options: { isIPv4: boolean; segments: boolean }) {
    this.size = size
    this.#libc = libc
    this.#fd = fd
    this.#family = options.isIPv4 ? AF_INET : AF_INET6
    this.#segments = options.segments
    this.#memory = new MessageMemory(size, false, size * CONTROL)
    this.#last = new Int32Array(5)
    const { words, headers, extra } = this.#memory
    for (let i = 0; i < size; i++) {
      words[(headers + i * HEADER + 8) >>> 2] = nameLength(this.#family)
      const control = (extra + i * CONTROL) >>> 2
      words[control] = CONTROL_LENGTH
      words[control + 2] = SOL_UDP
      words[control + 3] = UDP_SEGMENT
    }
  }

  /** Adds bytes [start, end) of a slot; there must be room, and the slot must stay as it is until `flush`. */
  add(from: ReceiveVector, slot: number, start: number, end: number, to: Address): void {
    const { words, vectors } = this.#memory
    const vector = (vectors + this.count * VECTOR) >>> 2
    const address = from.address(slot) + start
    words[vector] = address >>> 0
    words[vector + 1] = Math.floor(address / 2 ** 32)
    words[vector + 2] = end - start
    if (this.#segments && this.#joins(end - start, to)) this.#join(end - start)
    else this.#begin(end - start, to)
    this.count++
  }

  /** Sends what was added; how many datagrams the kernel refused. */
  flush(): number {
    const { base, headers, words } = this.#memory
    let refused = 0
    for (let at = 0; at < this.#messages; ) {
      const sent = this.#libc.sendmmsg(this.#fd, base + headers + at * HEADER, this.#messages - at, DONT_WAIT)
      if (sent > 0) at += sent
      else if (this.#libc.errno() !== EAGAIN) refused += this.#sendSingly(at++)
      else while (at < this.#messages) refused += words[((headers + at++ * HEADER) >>> 2) + 6]!
    }
    this.count = 0
    this.#messages = 0
    this.#isOpen = false
    return refused
  }

  #joins(length: number, to: Address): boolean {
    if (!this.#isOpen || this.#run >= MAX_SEGMENTS || length > this.#segment) return false
    const last = this.#last
    return (
      last[3] === to.w3 && last[4] === to.port && last[2] === to.w2 && last[1] === to.w1 && last[0] === to.w0
    )
  }

  #join(length: number): void {
    const { words, headers, extra } = this.#memory
    const message = this.#messages - 1
    const header = (headers + message * HEADER) >>> 2
    words[header + 6] = ++this.#run
    if (length < this.#segment) this.#isOpen = false
    if (this.#run > 2) return
    const control = extra + message * CONTROL
    words[(control + 16) >>> 2] = this.#segment
    this.#memory.point(headers + message * HEADER + 32, control)
    words[header + 10] = CONTROL_SPACE
  }

  #begin(length: number, to: Address): void {
    const { words, headers, vectors, names } = this.#memory
    const message = this.#messages++
    const header = (headers + message * HEADER) >>> 2
    writeName(words, (names + message * NAME_SIZE) >>> 2, this.#family, to)
    this.#memory.point(headers + message * HEADER + 16, vectors + this.count * VECTOR)
    words[header + 6] = 1
    words[header + 8] = 0
    words[header + 9] = 0
    words[header + 10] = 0
    if (!this.#segments) return
    this.#run = 1
    this.#segment = length
    this.#isOpen = length <= MAX_SEGMENT && length > 0
    const last = this.#last
    last[0] = to.w0
    last[1] = to.w1
    last[2] = to.w2
    last[3] = to.w3
    last[4] = to.port
  }

  /** A refused message: a single datagram is given up, a run is sent one by one. How many were refused. */
  #sendSingly(message: number): number {
    const { words, headers, base } = this.#memory
    const header = (headers + message * HEADER) >>> 2
    const run = words[header + 6]!
    if (run === 1) return 1
    this.splitRuns++
    words[header + 6] = 1
    words[header + 10] = 0
    let refused = 0
    for (let i = 0; i < run; i++) {
      const sent = this.#libc.sendmmsg(this.#fd, base + headers + message * HEADER, 1, DONT_WAIT)
      if (sent !== 1) {
        if (this.#libc.errno() === EAGAIN) return refused + run - i
        refused++
      }
      this.#advance(header)
    }
    return refused
  }

  /** The message's vector becomes the next one. */
  #advance(header: number): void {
    const { words } = this.#memory
    const low = words[header + 4]! + VECTOR
    words[header + 4] = low
    if (low >= 2 ** 32) words[header + 5]!++
  }
}
