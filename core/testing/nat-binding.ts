/** One client's way through a NAT: a socket towards the server that can be exchanged for one on another port. */

import type { UdpEngine, UdpPort } from '../contracts/udp-port.ts'
import { Address } from '../wire/address.ts'

/** An open binding. */
export class NatBinding {
  readonly client: Address
  readonly #server: Address
  readonly #engine: UdpEngine
  readonly #onDatagram: (datagram: Buffer) => void
  /** The last one is in use. The others stay open so that their ports are not given again, and hear nothing. */
  readonly #ports: UdpPort[] = []

  private constructor(
    engine: UdpEngine,
    client: Address,
    server: Address,
    onDatagram: (datagram: Buffer) => void,
  ) {
    this.#engine = engine
    this.client = client
    this.#server = server
    this.#onDatagram = onDatagram
  }

  /** Opens a binding; `onDatagram` hears what the server sends to its present port. */
  static async open(
    engine: UdpEngine,
    client: Address,
    server: Address,
    onDatagram: (datagram: Buffer) => void,
  ): Promise<NatBinding> {
    const binding = new NatBinding(engine, client, server, onDatagram)
    await binding.rebind()
    return binding
  }

  /** Where the server sees the client. */
  get mapped(): Address {
    return this.#current.local
  }

  /** Moves to a new port. */
  async rebind(): Promise<Address> {
    const port: UdpPort = await this.#engine.open({
      address: new Address().set(0, 0, 0xffff, 0x7f000001, 0),
      onDatagram: ({ bytes, start, end, source }) => {
        if (port !== this.#current || !source.equals(this.#server)) return
        this.#onDatagram(Buffer.from(bytes.subarray(start, end)))
      },
    })
    this.#ports.push(port)
    return port.local
  }

  /** Sends to the server from the present port. */
  send(datagram: Uint8Array): void {
    this.#current.send(datagram, 0, datagram.length, this.#server)
  }

  /** Closes every port. */
  async close(): Promise<void> {
    await Promise.all(this.#ports.map((port) => port.close()))
  }

  get #current(): UdpPort {
    return this.#ports.at(-1)!
  }
}
