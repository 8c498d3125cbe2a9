/**
 * Sends for many clients by one socket: each datagram names the address it leaves from (`IP_PKTINFO`), so that a relay
 * sees as many clients as there are addresses. A train of datagrams of one client is one message that the kernel cuts
 * up. Laid out once; Linux.
 */

import { HEAD_ROOM } from '../../../core/contracts/udp-port.ts'
import type { Libc } from '../../../core/ffi/libc.ts'
import { DONT_WAIT, HEADER, MessageMemory, SLOT_BYTES, VECTOR } from '../../../core/ffi/message-memory.ts'
import { AF_INET, NAME_SIZE, nameLength, writeName } from '../../../core/ffi/socket-name.ts'
import type { Address } from '../../../core/index.ts'
import { type Views, viewsOf } from './datagrams.ts'

/** Messages that go by one call. */
export const BATCH = 64

const IPPROTO_IP = 0
const IP_PKTINFO = 8
const SOL_UDP = 17
const UDP_SEGMENT = 103
/** Two `struct cmsghdr`: one of 16 + 12 bytes, padded to 32, and one of 16 + 2. */
const PKTINFO_LENGTH = 28
const PKTINFO_SPACE = 32
const SEGMENT_LENGTH = 18
const SEGMENT_SPACE = 24
const CONTROL = 64

/** 127.1.0.1, where the first client is; the others follow. */
const FIRST_CLIENT = 0x7f010001

/** Messages that wait to be sent to a relay. */
export class ClientVector {
  /** The memory that the datagrams are written to. */
  readonly views: Views
  count = 0
  readonly #memory = new MessageMemory(BATCH, true, BATCH * CONTROL)
  readonly #libc: Libc
  readonly #fd: number

  constructor(libc: Libc, fd: number) {
    this.#libc = libc
    this.#fd = fd
    this.views = viewsOf(this.#memory.bytes)
    const { words, headers, extra } = this.#memory
    for (let i = 0; i < BATCH; i++) {
      const header = headers + i * HEADER
      const control = extra + i * CONTROL
      words[(header + 8) >>> 2] = nameLength(AF_INET)
      this.#memory.point(header + 32, control)
      words[control >>> 2] = PKTINFO_LENGTH
      words[(control + 8) >>> 2] = IPPROTO_IP
      words[(control + 12) >>> 2] = IP_PKTINFO
      const segment = control + PKTINFO_SPACE
      words[segment >>> 2] = SEGMENT_LENGTH
      words[(segment + 8) >>> 2] = SOL_UDP
      words[(segment + 12) >>> 2] = UDP_SEGMENT
    }
  }

  /** All that follows goes to this relay. */
  aim(relay: Address): void {
    const { words, names } = this.#memory
    for (let i = 0; i < BATCH; i++) writeName(words, (names + i * NAME_SIZE) >>> 2, AF_INET, relay)
  }

  /** Where the next message's bytes go. */
  get at(): number {
    return this.count * SLOT_BYTES + HEAD_ROOM
  }

  /** The bytes at `at` are a message of `flow`: one datagram, or a train of them of `segment` bytes each. */
  add(flow: number, length: number, segment = length): void {
    const { words, headers, vectors, extra } = this.#memory
    const i = this.count++
    const isTrain = segment < length
    words[(vectors + i * VECTOR + 8) >>> 2] = length
    words[(headers + i * HEADER + 40) >>> 2] = PKTINFO_SPACE + (isTrain ? SEGMENT_SPACE : 0)
    const control = extra + i * CONTROL
    // struct in_pktinfo: interface 0, then the address to send from.
    words[(control + 20) >>> 2] = networkOrder(FIRST_CLIENT + flow)
    if (isTrain) words[(control + PKTINFO_SPACE + 16) >>> 2] = segment
  }

  /** Sends what waits; how many messages the kernel refused. */
  flush(): number {
    const { base, headers } = this.#memory
    let refused = 0
    for (let at = 0; at < this.count; ) {
      const sent = this.#libc.sendmmsg(this.#fd, base + headers + at * HEADER, this.count - at, DONT_WAIT)
      if (sent > 0) at += sent
      else {
        refused++
        at++
      }
    }
    this.count = 0
    return refused
  }
}

function networkOrder(ip: number): number {
  return ((ip << 24) | ((ip & 0xff00) << 8) | ((ip >>> 8) & 0xff00) | (ip >>> 24)) >>> 0
}
