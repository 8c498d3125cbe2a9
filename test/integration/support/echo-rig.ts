/** A relay between clients that number what they send and a transceiver that sends it back: nothing may be missing. */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import {
  Address,
  type FrameKey,
  framing,
  type RecoveryStore,
  type RoutingCodec,
  toAddress,
} from '../../../core/index.ts'
import { eventually } from '../../../core/testing/check.ts'
import { pluginContext } from '../../../core/testing/plugin-context.ts'
import { type Relay, startRelay } from '../../../plugins/relay/relay.ts'
import { bindingRequest, stunMessage } from '../../stun-bytes.ts'
import { bound, type Way } from './relay-ways.ts'

const KERNEL_BUFFER = 4 * 1024 * 1024
const SUCCESS = stunMessage(0x0101, [])

/** A socket with room for bursts. */
export async function burstSocket(): Promise<Socket> {
  const udp = createSocket({ type: 'udp4', recvBufferSize: KERNEL_BUFFER, sendBufferSize: KERNEL_BUFFER })
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  return udp
}

/** One caller: its check has been answered. */
export class EchoClient {
  readonly udp: Socket
  readonly #to: Address
  readonly #seen = new Set<number>()
  sent = 0
  answers = 0

  constructor(udp: Socket, to: Address) {
    this.udp = udp
    this.#to = to
    udp.on('message', (bytes) => {
      if (bytes[0]! < 4) this.answers++
      else this.#seen.add(bytes.readUInt32BE(4))
    })
  }

  /** How many of the packets sent came back. */
  get received(): number {
    return this.#seen.size
  }

  /** Sends a check. */
  check(ufrag = 'call1'): void {
    this.#send(bindingRequest(`${ufrag}:client`))
  }

  /** Sends packets of media, each with a number of its own. */
  talk(packets: number): void {
    for (let n = 0; n < packets; n++) {
      const packet = Buffer.alloc(160, 0x80)
      packet.writeUInt32BE(this.sent++, 4)
      this.#send(packet)
    }
  }

  /** Waits until all that was sent has come back. */
  async whole(patience = 5_000): Promise<void> {
    await eventually('all came back', () => this.received === this.sent, patience)
  }

  #send(bytes: Buffer): void {
    this.udp.send(bytes, this.#to.port, this.#to.host)
  }
}

/** What to build; the codec is made for the transceiver. */
export interface EchoOptions {
  codecFor(transceiver: Address): RoutingCodec
  readonly recovery?: RecoveryStore
}

/** The parts. */
export class EchoRig implements AsyncDisposable {
  readonly relay: Relay
  readonly transceiver: Address
  readonly logs: ReturnType<typeof pluginContext>['logs']
  readonly #sockets: Socket[]

  private constructor(
    relay: Relay,
    transceiver: Address,
    logs: ReturnType<typeof pluginContext>['logs'],
    sockets: Socket[],
  ) {
    this.relay = relay
    this.transceiver = transceiver
    this.logs = logs
    this.#sockets = sockets
  }

  static async open({ udp, options: way }: Way, { codecFor, recovery }: EchoOptions): Promise<EchoRig> {
    const echo = await burstSocket()
    const transceiver = echoFrom(echo)
    const { context, logs } = pluginContext({ udp })
    const options = {
      ...way,
      listen: ['127.0.0.1:0'],
      upstream: '127.0.0.1:0',
      allow: { cidrs: ['127.0.0.0/8'], ports: '1-65535' },
      framing: 'spp' as const,
      maxFlows: 1024,
    }
    const relay = await startRelay(options, { codec: codecFor(transceiver), recovery }, context, 7)
    return new EchoRig(relay, transceiver, logs, [echo])
  }

  /** A client, known to the relay unless told otherwise. */
  async client(isKnown = true): Promise<EchoClient> {
    const udp = await burstSocket()
    this.#sockets.push(udp)
    const client = new EchoClient(udp, bound(this.relay, 0).local)
    if (!isKnown) return client
    client.check()
    await eventually('the check is answered', () => client.answers === 1)
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay.close()
    for (const udp of this.#sockets) udp.close()
  }
}

/** From now on a socket is a transceiver that sends all back, and a success for a check; gives its address. */
export function echoFrom(udp: Socket, keys?: readonly FrameKey[]): Address {
  const frames = framing(keys, 'down')
  const { length } = frames
  const client = new Address()
  const proxy = new Address()
  udp.on('message', (bytes, from) => {
    if (frames.read(bytes, 0, bytes.length, client, proxy) !== undefined) return
    const isStun = bytes[length]! < 4
    const back = isStun ? Buffer.concat([bytes.subarray(0, length), SUCCESS]) : bytes
    frames.write(back, length, back.length, client, proxy)
    udp.send(back, from.port, from.address)
  })
  const { address, port } = udp.address()
  return toAddress(address, port)!
}
