/**
 * A socket of its own for each flow, towards servers that know nothing of relays (`nat`): a server sees each client as
 * one address that stays. Opened when a flow sends first, closed when it ends; never more than there can be flows.
 */

import { Address, type Context, type UdpEngine, type UdpPort } from '../../core/index.ts'

/** Datagrams that wait for their socket, which opens in no time: a client's first check is not lost. */
const WAITING = 4
/** What one client receives at a time is little. */
const BATCH = 4
const KERNEL_BUFFER = 256 * 1024

/** A server's datagram came for a client of ours: bytes[start, end). */
export type OnServer = (
  local: number,
  client: Address,
  bytes: Uint8Array,
  start: number,
  end: number,
  source: Address,
) => void

/** One flow's socket. */
class NatSocket {
  readonly local: number
  readonly client: Address
  port: UdpPort | undefined
  isOver = false
  readonly waiting: { readonly bytes: Buffer; readonly to: Address }[] = []

  constructor(local: number, client: Address) {
    this.local = local
    this.client = client.clone()
  }
}

/** The sockets of a relay's flows. */
export class NatSockets {
  readonly #udp: UdpEngine
  readonly #bind: Address
  readonly #log: Context['log']
  readonly #onServer: OnServer
  /** By the flow's reference. */
  readonly #sockets = new Map<number, NatSocket>()
  #hasFailed = false
  #isClosed = false

  /** `bind` is the ip that they have; its port is not looked at. */
  constructor(udp: UdpEngine, bind: Address, log: Context['log'], onServer: OnServer) {
    this.#udp = udp
    this.#bind = new Address().set(bind.w0, bind.w1, bind.w2, bind.w3, 0)
    this.#log = log
    this.#onServer = onServer
  }

  /** How many there are. */
  get size(): number {
    return this.#sockets.size
  }

  /** Sends bytes[start, end) of a flow's client to a server. */
  send(
    flow: number,
    local: number,
    client: Address,
    bytes: Uint8Array,
    start: number,
    end: number,
    to: Address,
  ): void {
    const socket = this.#sockets.get(flow) ?? this.#open(flow, local, client)
    if (socket.port !== undefined) socket.port.send(bytes, start, end, to)
    else if (socket.waiting.length < WAITING) {
      socket.waiting.push({ bytes: Buffer.from(bytes.subarray(start, end)), to: to.clone() })
    }
  }

  /** A flow has ended, and its socket with it. */
  ended(flow: number): void {
    const socket = this.#sockets.get(flow)
    if (socket === undefined) return
    this.#sockets.delete(flow)
    socket.isOver = true
    void socket.port?.close()
  }

  /** Closes them all. */
  async close(): Promise<void> {
    this.#isClosed = true
    const ports = [...this.#sockets.values()].flatMap(({ port }) => port ?? [])
    for (const flow of [...this.#sockets.keys()]) this.ended(flow)
    await Promise.all(ports.map((port) => port.close()))
  }

  #open(flow: number, local: number, client: Address): NatSocket {
    const socket = new NatSocket(local, client)
    this.#sockets.set(flow, socket)
    void this.#bindOne(flow, socket)
    return socket
  }

  async #bindOne(flow: number, socket: NatSocket): Promise<void> {
    try {
      const port = await this.#udp.open({
        address: this.#bind,
        batch: BATCH,
        receiveBuffer: KERNEL_BUFFER,
        sendBuffer: KERNEL_BUFFER,
        onDatagram: ({ bytes, start, end, source }) =>
          this.#onServer(socket.local, socket.client, bytes, start, end, source),
      })
      if (socket.isOver || this.#isClosed) {
        await port.close()
        return
      }
      socket.port = port
      for (const { bytes, to } of socket.waiting.splice(0)) port.send(bytes, 0, bytes.length, to)
    } catch (error) {
      // What this client sends next is another try.
      if (this.#sockets.get(flow) === socket) this.#sockets.delete(flow)
      if (this.#hasFailed) return
      this.#hasFailed = true
      this.#log.error(
        { err: error, sockets: this.size },
        'no socket for a client towards its server: raise the limit of open files (LimitNOFILE), or lower maxFlows',
      )
    }
  }
}
