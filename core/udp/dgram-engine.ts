/**
 * The UDP engine for every platform: the UdpPort contract on node:dgram. After it is open a port never throws and
 * never rejects: whatever the network or a receiver does wrong is a number in its counters.
 */

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import {
  MAX_DATAGRAM,
  type UdpCounters,
  type UdpEngine,
  type UdpOptions,
  type UdpPort,
} from '../contracts/udp-port.ts'
import { Address } from '../wire/address.ts'
import { HostTexts } from './host-texts.ts'
import { openError } from './open-error.ts'
import { ReceiveSlot } from './receive-slot.ts'
import { SendSlots, SLOT_SIZE } from './send-slots.ts'

const SENDS_IN_FLIGHT = 1024
const KERNEL_BUFFER = 4 * 1024 * 1024

/** The engine on node:dgram: IPv4 addresses on an IPv4 socket, `::` on a dual-stack one. */
export const dgramEngine: UdpEngine = Object.freeze({ name: 'dgram', open })

/** Binds a socket and waits until it listens. Throws EdgeError `address_in_use` or `address_unavailable`. */
async function open(options: UdpOptions): Promise<UdpPort> {
  const { address } = options
  const socket = createSocket({
    type: address.isIPv4 ? 'udp4' : 'udp6',
    ipv6Only: !address.isIPv4 && !address.isUnspecified,
    // Every host is an ip already. Answering at once keeps `send` in the caller's turn, off the DNS thread pool.
    lookup: (host, family, done) => done(null, host, Number(family)),
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.bind({ address: address.host, port: address.port, exclusive: true }, () => {
      socket.off('error', reject)
      resolve()
    })
  }).catch((cause: NodeJS.ErrnoException) => {
    socket.close()
    throw openError(address, cause.code, cause)
  })
  enlarge(options.receiveBuffer ?? KERNEL_BUFFER, (size) => socket.setRecvBufferSize(size))
  enlarge(options.sendBuffer ?? KERNEL_BUFFER, (size) => socket.setSendBufferSize(size))
  return new DgramPort(socket, options)
}

/** Some systems refuse a size above their limit where Linux grants less: try halves down to the default's order. */
function enlarge(size: number, set: (size: number) => void): void {
  for (let wanted = size; wanted >= 65536; wanted >>= 1) {
    try {
      set(wanted)
      return
    } catch {}
  }
}

class DgramPort implements UdpPort {
  readonly local = new Address()
  readonly counters: UdpCounters = { received: 0, sent: 0, truncated: 0, receiveErrors: 0, sendErrors: 0 }
  readonly #socket: Socket
  readonly #options: UdpOptions
  readonly #hosts: HostTexts
  readonly #slot = new ReceiveSlot()
  readonly #slots = new SendSlots(SENDS_IN_FLIGHT, (error) => this.#sent(error))
  #closed: Promise<void> | undefined

  constructor(socket: Socket, options: UdpOptions) {
    this.#socket = socket
    this.#options = options
    this.#hosts = new HostTexts(!options.address.isIPv4)
    const bound = socket.address()
    this.local.parseHost(bound.address, bound.port)
    socket.on('message', (message, from) => this.#receive(message, from))
    // An ICMP answer to something that was sent (ECONNREFUSED, say) is told here by some systems.
    socket.on('error', () => {
      this.counters.receiveErrors++
    })
  }

  send(bytes: Uint8Array, start: number, end: number, to: Address): void {
    const slot = this.#sendable(bytes, start, end, to) ? this.#slots.take() : undefined
    if (slot === undefined) {
      this.counters.sendErrors++
      return
    }
    try {
      Buffer.prototype.copy.call(bytes, slot.bytes, 0, start, end)
      this.#socket.send(slot.bytes, 0, end - start, to.port, this.#hosts.text(to), slot.done)
    } catch {
      // node:dgram throws only before it takes the bytes, so the slot is still ours.
      this.#slots.release(slot)
      this.counters.sendErrors++
    }
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#socket.close(resolve))
    return this.#closed
  }

  /** What the kernel or node:dgram would refuse anyway, told without making an error for it. */
  #sendable(bytes: Uint8Array, start: number, end: number, to: Address): boolean {
    if (this.#closed !== undefined || to.port === 0) return false
    if (!to.isIPv4 && this.local.isIPv4) return false
    // Written so that NaN fails too.
    return start >= 0 && end >= start && end <= bytes.length && end - start <= SLOT_SIZE
  }

  #sent(error: Error | null): void {
    if (error) this.counters.sendErrors++
    else this.counters.sent++
  }

  #receive(message: Buffer, from: RemoteInfo): void {
    const { counters } = this
    if (message.length > MAX_DATAGRAM) {
      counters.truncated++
      return
    }
    const slot = this.#slot
    if (this.#closed !== undefined || !this.#hosts.parse(from.address, from.port, slot.source)) {
      counters.receiveErrors++
      return
    }
    counters.received++
    slot.fill(message)
    try {
      this.#options.onDatagram(slot)
    } catch {
      counters.receiveErrors++
    }
    try {
      this.#options.onBatchEnd?.()
    } catch {
      counters.receiveErrors++
    }
  }
}
