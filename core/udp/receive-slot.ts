/** The one place a received datagram lies while its receiver looks at it. Made once for each port, then reused. */

import { type Datagram, HEAD_ROOM, MAX_DATAGRAM } from '../contracts/udp-port.ts'
import { Address } from '../wire/address.ts'

/** Bytes behind the largest datagram, so that a short trailer can be put there in place too. */
export const TAIL_ROOM = 64

/** A reused datagram: HEAD_ROOM bytes, up to MAX_DATAGRAM bytes of payload, TAIL_ROOM bytes. */
export class ReceiveSlot implements Datagram {
  // Slow: a slab shared with other buffers would let a receiver that writes out of bounds reach them.
  readonly bytes = Buffer.allocUnsafeSlow(HEAD_ROOM + MAX_DATAGRAM + TAIL_ROOM)
  readonly start = HEAD_ROOM
  end = HEAD_ROOM
  readonly source = new Address()

  /** Copies a payload of at most MAX_DATAGRAM bytes in. */
  fill(payload: Uint8Array): void {
    this.bytes.set(payload, HEAD_ROOM)
    this.end = HEAD_ROOM + payload.length
  }
}
