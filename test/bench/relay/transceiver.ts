/**
 * The transceiver behind a relay under load: it answers Binding requests and gives back everything else as it came,
 * framed or not, to where it came from. Equal datagrams leave as one message, so that it costs the load's thread little.
 */

import { HEAD_ROOM } from '../../../core/contracts/udp-port.ts'
import { ForwardVector } from '../../../core/ffi/forward-vector.ts'
import type { Libc } from '../../../core/ffi/libc.ts'
import { ReceiveVector } from '../../../core/ffi/message-vector.ts'
import { openUdpSocket } from '../../../core/ffi/udp-socket.ts'
import { Address } from '../../../core/index.ts'
import { SPP_LENGTH } from '../../../core/wire/spp.ts'
import { BATCH } from './client-vector.ts'
import { answer } from './datagrams.ts'

const KERNEL_BUFFER = 64 * 1024 * 1024
const FRAMED = 0x56

/** Its socket, and what has come to it. */
export class EchoingTransceiver {
  readonly local: Address
  received = 0
  readonly #fd: number
  readonly #incoming: ReceiveVector
  readonly #outgoing: ForwardVector
  readonly #source = new Address()

  /** Throws SocketRefusal. */
  constructor(libc: Libc, address: Address) {
    const buffers = { receiveBuffer: KERNEL_BUFFER, sendBuffer: KERNEL_BUFFER }
    const { fd, local } = openUdpSocket(libc, address, buffers)
    this.#fd = fd
    this.local = local
    this.#incoming = new ReceiveVector(libc, BATCH)
    this.#outgoing = new ForwardVector(libc, fd, BATCH, { isIPv4: local.isIPv4, segments: true })
  }

  /** Gives back one batch of what has come; how many datagrams. */
  drain(): number {
    const incoming = this.#incoming
    const count = incoming.receive(this.#fd)
    if (count <= 0) return 0
    this.received += count
    for (let i = 0; i < count; i++) {
      const bytes = incoming.slots[i]!
      answer(bytes, bytes[HEAD_ROOM] === FRAMED ? HEAD_ROOM + SPP_LENGTH : HEAD_ROOM)
      if (!incoming.source(i, this.#source)) continue
      this.#outgoing.add(incoming, i, HEAD_ROOM, HEAD_ROOM + incoming.length(i), this.#source)
    }
    this.#outgoing.flush()
    return count
  }
}
