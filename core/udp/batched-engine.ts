/**
 * The UDP engine for Linux: the UdpPort contract on `recvmmsg` and `sendmmsg`, from the event loop. A batch of
 * datagrams costs one call into the kernel each way. After it is open a port never throws and never rejects.
 */

import type { Datagram, UdpCounters, UdpEngine, UdpOptions, UdpPort } from '../contracts/udp-port.ts'
import { HEAD_ROOM } from '../contracts/udp-port.ts'
import { type Libc, libc, type Watch, watchReadable } from '../ffi/libc.ts'
import { MAX_SENT, ReceiveVector, SendVector } from '../ffi/message-vector.ts'
import { openUdpSocket, SocketRefusal, type UdpSocket } from '../ffi/udp-socket.ts'
import { Address } from '../wire/address.ts'
import { takeEarlySocket } from './early-sockets.ts'
import { openError } from './open-error.ts'
import { threadUdp } from './thread-sockets.ts'

const BATCH = 64
/** Full batches taken in one turn of the event loop: timers and HTTP must have their turn too. */
const BATCHES_A_TURN = 8

/** What a socket's kernel buffers have by default, in bytes, as far as the kernel grants it. */
export const KERNEL_BUFFER = 4 * 1024 * 1024

/** The engine, or undefined where its system calls are not to be had. */
export function batchedEngine(calls = libc()): UdpEngine | undefined {
  if (calls === undefined) return undefined
  return Object.freeze({
    name: 'batched' as const,
    open: async (options: UdpOptions) => open(calls, options),
    threads: threadUdp(calls),
  })
}

/** Throws EdgeError `address_in_use` or `address_unavailable`. */
function open(calls: Libc, options: UdpOptions): UdpPort {
  const socket = openSocket(calls, options)
  try {
    return new BatchedPort(calls, socket, options)
  } catch (cause) {
    calls.close(socket.fd)
    throw openError(options.address, undefined, cause)
  }
}

function openSocket(calls: Libc, { address, receiveBuffer, sendBuffer }: UdpOptions): UdpSocket {
  try {
    const options = {
      receiveBuffer: receiveBuffer ?? KERNEL_BUFFER,
      sendBuffer: sendBuffer ?? KERNEL_BUFFER,
    }
    return takeEarlySocket(address) ?? openUdpSocket(calls, address, options)
  } catch (cause) {
    throw openError(address, cause instanceof SocketRefusal ? cause.code : undefined, cause)
  }
}

/** A slot as its receiver sees it; used again for each batch. */
class Received implements Datagram {
  readonly bytes: Buffer
  readonly start = HEAD_ROOM
  end = HEAD_ROOM
  readonly source = new Address()

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

class BatchedPort implements UdpPort {
  readonly local: Address
  readonly counters: UdpCounters = { received: 0, sent: 0, truncated: 0, receiveErrors: 0, sendErrors: 0 }
  readonly #libc: Libc
  readonly #fd: number
  readonly #options: UdpOptions
  readonly #batch: number
  readonly #incoming: ReceiveVector
  readonly #outgoing: SendVector
  readonly #datagrams: readonly Received[]
  readonly #watch: Watch
  readonly #flush = (): void => this.#sendAll()
  #receiving = false
  #flushing = false
  #closed: Promise<void> | undefined

  constructor(calls: Libc, { fd, local }: UdpSocket, options: UdpOptions) {
    this.#libc = calls
    this.#fd = fd
    this.local = local
    this.#options = options
    this.#batch = options.batch ?? BATCH
    this.#incoming = new ReceiveVector(calls, this.#batch)
    this.#outgoing = new SendVector(calls, this.#batch, local.isIPv4)
    this.#datagrams = this.#incoming.slots.map((bytes) => new Received(bytes))
    this.#watch = watchReadable(fd, () => this.#drain())
  }

  send(bytes: Uint8Array, start: number, end: number, to: Address): void {
    if (!this.#sendable(bytes, start, end, to)) {
      this.counters.sendErrors++
      return
    }
    this.#outgoing.add(bytes, start, end, to)
    if (this.#outgoing.count === this.#batch) this.#sendAll()
    else if (!this.#receiving && !this.#flushing) {
      // What is sent in one turn goes out together at its end.
      this.#flushing = true
      queueMicrotask(this.#flush)
    }
  }

  close(): Promise<void> {
    if (this.#closed === undefined) {
      this.#closed = Promise.resolve()
      this.#sendAll()
      this.#watch.close()
      this.#libc.close(this.#fd)
    }
    return this.#closed
  }

  #sendable(bytes: Uint8Array, start: number, end: number, to: Address): boolean {
    if (this.#closed !== undefined || to.port === 0) return false
    if (!to.isIPv4 && this.local.isIPv4) return false
    // Written so that NaN fails too.
    return start >= 0 && end >= start && end <= bytes.length && end - start <= MAX_SENT
  }

  #sendAll(): void {
    this.#flushing = false
    const { count } = this.#outgoing
    if (count === 0) return
    const refused = this.#outgoing.flush(this.#fd)
    this.counters.sent += count - refused
    this.counters.sendErrors += refused
  }

  /** A batch that is not full has emptied the socket: asking again would be answered with nothing. */
  #drain(): void {
    this.#receiving = true
    for (let i = 0; i < BATCHES_A_TURN && this.#closed === undefined; i++) {
      if (this.#receiveBatch() < this.#batch) break
    }
    this.#receiving = false
  }

  #receiveBatch(): number {
    const count = this.#incoming.receive(this.#fd)
    for (let i = 0; i < count && this.#closed === undefined; i++) this.#receive(i)
    if (count > 0) this.#endBatch()
    return count
  }

  #receive(i: number): void {
    const { counters } = this
    const datagram = this.#datagrams[i]!
    if (this.#incoming.isTruncated(i)) counters.truncated++
    else if (!this.#incoming.source(i, datagram.source)) counters.receiveErrors++
    else {
      counters.received++
      datagram.end = HEAD_ROOM + this.#incoming.length(i)
      try {
        this.#options.onDatagram(datagram)
      } catch {
        counters.receiveErrors++
      }
    }
  }

  #endBatch(): void {
    try {
      this.#options.onBatchEnd?.()
    } catch {
      this.counters.receiveErrors++
    }
    if (this.#closed === undefined) this.#sendAll()
  }
}
