/**
 * The transceiver's one UDP socket: takes the framing off what comes in, and puts it on what goes out.
 *
 * A packet's way (`Path`) is the relay socket it came from, the address the client sent it to, and the client; an
 * answer goes back the same way. Packets from anywhere but a listed relay are dropped and counted.
 */

import {
  Address,
  type Cidr,
  type Datagram,
  type Framing,
  HEAD_ROOM,
  inCidrs,
  MAX_DATAGRAM,
  packetKind,
  plainFraming,
  type UdpEngine,
  type UdpPort,
} from '../../core/index.ts'
import type { Path } from './ice/path.ts'

/** Takes what the socket received. `path` is reused: clone it to keep it. */
export interface SocketReceiver {
  receiveStun(bytes: Buffer, start: number, end: number, path: Path): void
  receiveDtls(bytes: Buffer, start: number, end: number, path: Path): void
  receiveMedia(bytes: Buffer, start: number, end: number, path: Path): void
}

/** Why a datagram was dropped before any session saw it; the closed set. */
export interface SocketDrops {
  /** Framed, but not from a listed relay. */
  untrusted: number
  /** Not framed, and `direct` is off. */
  unframed: number
  /** Framed, with nothing behind the header. */
  empty: number
  /** A first byte that is none of ours (RFC 7983). */
  unknown: number
  /** With `framing.mac`: framed without a tag, with a key that is not ours, or with a tag that is wrong. */
  mac_missing: number
  mac_key: number
  mac_wrong: number
}

/** How to open the socket. */
export interface SocketOptions {
  readonly engine: UdpEngine
  readonly address: Address
  readonly relays: readonly Cidr[]
  readonly direct: boolean
  /** How packets are framed, seen from this end. Default: without tags. */
  readonly framing?: Framing
}

/** The open socket. Nothing here throws or allocates per packet. */
export class TransceiverSocket {
  readonly drops: SocketDrops = {
    untrusted: 0,
    unframed: 0,
    empty: 0,
    unknown: 0,
    mac_missing: 0,
    mac_key: 0,
    mac_wrong: 0,
  }
  readonly #slot = Buffer.allocUnsafeSlow(HEAD_ROOM + MAX_DATAGRAM)
  readonly #port: UdpPort
  readonly #receiver: SocketReceiver
  readonly #relays: readonly Cidr[]
  readonly #direct: boolean
  readonly #framing: Framing
  readonly #framed = { relay: new Address(), local: new Address(), client: new Address() }
  readonly #bare: { relay: undefined; local: Address; client: Address }

  private constructor(port: UdpPort, options: SocketOptions, receiver: SocketReceiver) {
    this.#port = port
    this.#receiver = receiver
    this.#relays = options.relays
    this.#direct = options.direct
    this.#framing = options.framing ?? plainFraming
    this.#bare = { relay: undefined, local: port.local.clone(), client: new Address() }
  }

  /** Binds the socket. Rejects with EdgeError `address_in_use` or `address_unavailable`. */
  static async open(options: SocketOptions, receiver: SocketReceiver): Promise<TransceiverSocket> {
    let socket: TransceiverSocket | undefined
    const port = await options.engine.open({
      address: options.address,
      onDatagram: (datagram) => socket?.receive(datagram),
    })
    socket = new TransceiverSocket(port, options, receiver)
    return socket
  }

  /** The address it is bound to. */
  get local(): Address {
    return this.#port.local
  }

  /** The port's own counters. */
  get counters(): UdpPort['counters'] {
    return this.#port.counters
  }

  /** Takes one datagram as the engine hands it over. */
  receive({ bytes, start, end, source }: Datagram): void {
    if (end > start && packetKind(bytes[start]!) !== 'framing') {
      this.#receiveBare(bytes, start, end, source)
      return
    }
    const { relay, local, client } = this.#framed
    if (!inCidrs(this.#relays, source)) {
      this.drops.untrusted++
      return
    }
    const fault = this.#framing.read(bytes, start, end, client, local)
    if (fault !== undefined) {
      this.drops[fault === 'bad_frame' ? 'unknown' : fault]++
      return
    }
    relay.copy(source)
    this.#dispatch(bytes, start + this.#framing.length, end, this.#framed)
  }

  /** Sends bytes[start, end) the way `path` says. They are the caller's again on return. */
  send(bytes: Uint8Array, start: number, end: number, path: Path): void {
    const length = end - start
    if (length > MAX_DATAGRAM) return
    Buffer.prototype.copy.call(bytes, this.#slot, HEAD_ROOM, start, end)
    this.sendInPlace(this.#slot, HEAD_ROOM, HEAD_ROOM + length, path)
  }

  /** The same for bytes with HEAD_ROOM in front of `start`, which is written over. */
  sendInPlace(bytes: Uint8Array, start: number, end: number, path: Path): void {
    if (path.relay === undefined) {
      this.#port.send(bytes, start, end, path.client)
      return
    }
    this.#framing.write(bytes, start, end, path.client, path.local)
    this.#port.send(bytes, start - this.#framing.length, end, path.relay)
  }

  /** Stops receiving and frees the socket. */
  close(): Promise<void> {
    return this.#port.close()
  }

  #receiveBare(bytes: Buffer, start: number, end: number, source: Address): void {
    if (!this.#direct) {
      this.drops.unframed++
      return
    }
    this.#bare.client.copy(source)
    this.#dispatch(bytes, start, end, this.#bare)
  }

  #dispatch(bytes: Buffer, start: number, end: number, path: Path): void {
    if (start >= end) {
      this.drops.empty++
      return
    }
    switch (packetKind(bytes[start]!)) {
      case 'stun':
        this.#receiver.receiveStun(bytes, start, end, path)
        break
      case 'dtls':
        this.#receiver.receiveDtls(bytes, start, end, path)
        break
      case 'media':
        this.#receiver.receiveMedia(bytes, start, end, path)
        break
      default:
        this.drops.unknown++
    }
  }
}
