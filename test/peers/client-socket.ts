/** A client's UDP socket: one that a test can watch, feed, move to another port and point elsewhere. */

import { Address, type UdpEngine, type UdpPort } from '../../core/index.ts'

/** Which way a datagram goes, as the client sees it. */
export type Way = 'in' | 'out'

/** Sees every datagram, bytes[start, end); false drops it. The bytes are reused after it returns. */
export type Tap = (way: Way, bytes: Buffer, start: number, end: number) => boolean | undefined

/** Takes what came in. */
export type Receive = (bytes: Buffer, start: number, end: number, source: Address) => void

/** The socket. */
export class ClientSocket {
  tap: Tap | undefined
  /** Where it sends. */
  remote = new Address()
  readonly counters = { sent: 0, received: 0, bytesSent: 0, bytesReceived: 0 }
  readonly #engine: UdpEngine
  readonly #receive: Receive
  #port: UdpPort | undefined

  private constructor(engine: UdpEngine, receive: Receive) {
    this.#engine = engine
    this.#receive = receive
  }

  static async open(engine: UdpEngine, bind: Address, receive: Receive): Promise<ClientSocket> {
    const socket = new ClientSocket(engine, receive)
    socket.#port = await socket.#bind(bind)
    return socket
  }

  /** Where it is bound. */
  get local(): Address {
    return this.#port?.local ?? new Address()
  }

  /** Sends bytes[start, end) to `to`, to the server unless another is named. */
  send(bytes: Buffer, start: number, end: number, to: Address = this.remote): void {
    if (this.tap?.('out', bytes, start, end) === false) return
    this.counters.sent++
    this.counters.bytesSent += end - start
    this.#port?.send(bytes, start, end, to)
  }

  /** Goes on from a new port, as behind a NAT that forgot its mapping. */
  async rebind(bind: Address): Promise<void> {
    const old = this.#port
    this.#port = await this.#bind(bind)
    await old?.close()
  }

  /** Idempotent. */
  async close(): Promise<void> {
    const port = this.#port
    this.#port = undefined
    await port?.close()
  }

  #bind(address: Address): Promise<UdpPort> {
    return this.#engine.open({
      address,
      onDatagram: ({ bytes, start, end, source }) => {
        this.counters.received++
        this.counters.bytesReceived += end - start
        if (this.tap?.('in', bytes, start, end) === false) return
        this.#receive(bytes, start, end, source)
      },
    })
  }
}
