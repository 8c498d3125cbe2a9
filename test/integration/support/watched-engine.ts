/**
 * The dgram engine with eyes: a hook sees every datagram of every port, in the order the ports were opened, and a port
 * can be moved to another address under its owner, as a process that restarted would be.
 */

import type { Address, UdpEngine, UdpOptions, UdpPort } from '../../../core/index.ts'
import { dgramEngine } from '../../../core/udp/dgram-engine.ts'

/** Sees bytes[start, end), which are reused after it returns; `peer` is the other end, reused likewise. */
export type Watch = (
  way: 'in' | 'out',
  port: WatchedPort,
  bytes: Uint8Array,
  start: number,
  end: number,
  peer: Address,
) => void

/** The engine. */
export class WatchedEngine implements UdpEngine {
  readonly name = 'dgram'
  readonly ports: WatchedPort[] = []
  watch: Watch | undefined

  async open(options: UdpOptions): Promise<UdpPort> {
    const port = await WatchedPort.open(options, (...seen) => this.watch?.(...seen))
    this.ports.push(port)
    return port
  }
}

/** A port of it. */
export class WatchedPort implements UdpPort {
  /** Datagrams that came to addresses that it has left. */
  readonly late: Buffer[] = []
  readonly #options: UdpOptions
  readonly #watch: Watch
  /** The last one is in use; the others stay open so that their addresses are not given again. */
  readonly #ports: UdpPort[] = []

  private constructor(options: UdpOptions, watch: Watch) {
    this.#options = options
    this.#watch = watch
  }

  static async open(options: UdpOptions, watch: Watch): Promise<WatchedPort> {
    const port = new WatchedPort(options, watch)
    await port.#bind(options.address)
    return port
  }

  get local(): Address {
    return this.#current.local
  }

  get counters(): UdpPort['counters'] {
    return this.#current.counters
  }

  send(bytes: Uint8Array, start: number, end: number, to: Address): void {
    this.#watch('out', this, bytes, start, end, to)
    this.#current.send(bytes, start, end, to)
  }

  /** Goes on at another port of the same ip. */
  async move(): Promise<void> {
    const address = this.local.clone()
    address.port = 0
    await this.#bind(address)
  }

  async close(): Promise<void> {
    await Promise.all(this.#ports.map((port) => port.close()))
  }

  get #current(): UdpPort {
    return this.#ports.at(-1)!
  }

  async #bind(address: Address): Promise<void> {
    const opened: UdpPort = await dgramEngine.open({
      ...this.#options,
      address,
      onDatagram: (datagram) => {
        const { bytes, start, end, source } = datagram
        if (opened !== this.#current) {
          this.late.push(Buffer.from(bytes.subarray(start, end)))
          return
        }
        this.#watch('in', this, bytes, start, end, source)
        this.#options.onDatagram(datagram)
      },
    })
    this.#ports.push(opened)
  }
}
