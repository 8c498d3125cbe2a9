/**
 * A relay on real sockets, two transceivers behind it and a call that goes on beside whatever happens: the stage for
 * attacks. Ufrags are sealed, in whatever thread they are read.
 */

import assert from 'node:assert/strict'
import {
  Address,
  parseAddress,
  type RecoveryStore,
  readSpp,
  SPP_LENGTH,
  type UdpPort,
  writeSpp,
} from '../../../core/index.ts'
import { eventually } from '../../../core/testing/check.ts'
import { pluginContext } from '../../../core/testing/plugin-context.ts'
import { dgramEngine } from '../../../core/udp/dgram-engine.ts'
import { DROP_REASONS, type DropReason } from '../../../plugins/relay/pure/drop-reasons.ts'
import { type Relay, startRelay } from '../../../plugins/relay/relay.ts'
import { SealedCodec } from '../../../plugins/routing-codec/sealed/codec.ts'
import { freePort } from '../../peers/free-port.ts'
import { bindingRequest, stunMessage } from '../../stun-bytes.ts'
import { bound, total, type Way } from './relay-ways.ts'
import { Stranger } from './stranger.ts'

/** The cluster's key, and a Binding success as a transceiver answers. */
export const KEY = { id: 1, key: '00112233445566778899aabbccddeeff' }
export const SUCCESS = stunMessage(0x0101, [])

/** A frame as a transceiver got it; `via` is the relay's internal socket. */
export interface Frame {
  readonly client: Address
  readonly proxy: Address
  readonly via: Address
  readonly payload: Buffer
}

/** A transceiver that keeps what it gets and says what a test likes. */
export class FramedPeer {
  readonly frames: Frame[] = []
  #port: UdpPort | undefined

  static async open(host = '127.0.0.1', port = 0): Promise<FramedPeer> {
    const peer = new FramedPeer()
    peer.#port = await dgramEngine.open({
      address: parseAddress(`${host}:${port}`)!,
      onDatagram: ({ bytes, start, end, source }) => {
        const client = new Address()
        const proxy = new Address()
        if (!readSpp(bytes, start, end, client, proxy)) return
        const payload = Buffer.from(bytes.subarray(start + SPP_LENGTH, end))
        peer.frames.push({ client, proxy, via: source.clone(), payload })
      },
    })
    return peer
  }

  get local(): Address {
    return this.#port!.local
  }

  has(payload: Buffer): boolean {
    return this.frames.some((frame) => frame.payload.equals(payload))
  }

  /** The next frame that holds these bytes, which is then forgotten. */
  async got(payload: Buffer): Promise<Frame> {
    const find = (): number => this.frames.findIndex((frame) => frame.payload.equals(payload))
    await eventually('the transceiver gets it', () => find() >= 0, 5_000)
    return this.frames.splice(find(), 1)[0]!
  }

  /** Says this to the client of a frame. */
  say(to: Frame, payload: Uint8Array): void {
    const datagram = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
    writeSpp(datagram, 0, to.client, to.proxy)
    this.sayBare(to.via, datagram)
  }

  sayBare(to: Address, datagram: Uint8Array): void {
    this.#port!.send(datagram, 0, datagram.length, to)
  }

  async close(): Promise<void> {
    await this.#port?.close()
  }
}

/** How a stage may differ. */
export interface StageOptions {
  readonly upstream?: string
  readonly recovery?: RecoveryStore
  /** Where relays of other clusters are: it hears them too. */
  readonly relays?: string
}

/** The stage. */
export class Stage {
  readonly relay: Relay
  /** Where clients send to. */
  readonly front: Address
  /** Where relays of other clusters send to. */
  readonly internal: Address | undefined
  readonly transceivers: readonly [FramedPeer, FramedPeer]
  readonly codec = new SealedCodec([KEY])
  readonly #open: { close(): Promise<void> }[] = []
  #numbers = 0
  #bystander: { client: Stranger; transceiver: FramedPeer } | undefined

  private constructor(
    relay: Relay,
    transceivers: readonly [FramedPeer, FramedPeer],
    internal: Address | undefined,
  ) {
    this.internal = internal
    this.relay = relay
    this.front = bound(relay, 0).local
    this.transceivers = transceivers
  }

  /** Only transceivers at 127.0.0.1 and from port 1024 on are allowed. */
  static async open(way: Way, options: StageOptions = {}): Promise<Stage> {
    const internal = options.relays ? parseAddress(`127.0.0.1:${await freePort()}`) : undefined
    const relays = options.relays && { internal: { listen: `${internal}`, cidrs: [options.relays] } }
    const relay = await startRelay(
      {
        ...relays,
        ...way.options,
        listen: ['127.0.0.1:0'],
        upstream: options.upstream ?? '127.0.0.1:0',
        allow: { cidrs: ['127.0.0.1/32'], ports: '1024-65535' },
        maxFlows: 256,
      },
      { codec: new SealedCodec([KEY]), recovery: options.recovery },
      pluginContext({ udp: way.udp }).context,
      7,
    )
    const stage = new Stage(relay, [await FramedPeer.open(), await FramedPeer.open()], internal)
    const client = await stage.client()
    stage.#bystander = { client, transceiver: stage.transceivers[0] }
    await stage.connect(client, stage.transceivers[0], stage.ufrag(stage.transceivers[0].local))
    return stage
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((one) => one.close()))
    await Promise.all(this.transceivers.map((one) => one.close()))
    await this.relay.close()
  }

  async client(): Promise<Stranger> {
    const client = await Stranger.open(this.front)
    this.#open.push(client)
    return client
  }

  async peer(host: string): Promise<FramedPeer> {
    const peer = await FramedPeer.open(host)
    this.#open.push(peer)
    return peer
  }

  /** A new session's ufrag, which leads there. */
  ufrag(address: Address, cluster = 1): string {
    const session = Buffer.alloc(8)
    session.writeUInt32BE(++this.#numbers, 4)
    return this.codec.encode({ cluster, address, session }, 'ufrag')
  }

  /** A check, which is no other's. */
  check(ufrag: string): Buffer {
    return bindingRequest(`${ufrag}:c${++this.#numbers}`)
  }

  /** Media, which is no other's. */
  media(): Buffer {
    const packet = Buffer.alloc(60, 0x80)
    packet.writeUInt32BE(++this.#numbers, 8)
    return packet
  }

  /** A check that is answered: the route is live. */
  async connect(client: Stranger, transceiver: FramedPeer, ufrag: string): Promise<Frame> {
    const check = this.check(ufrag)
    client.send(check)
    const frame = await transceiver.got(check)
    await this.says(transceiver, frame, client, SUCCESS)
    return frame
  }

  /** What a transceiver says reaches the client. */
  async says(transceiver: FramedPeer, to: Frame, client: Stranger, payload: Buffer): Promise<void> {
    const before = client.received.length
    transceiver.say(to, payload)
    await eventually('the client gets it', () => client.received.length > before, 5_000)
    assert.deepEqual(client.received.at(-1), payload)
  }

  /** Media of this client reaches that transceiver, and its own comes back. */
  async talk(client: Stranger, transceiver: FramedPeer): Promise<void> {
    const media = this.media()
    client.send(media)
    await this.says(transceiver, await transceiver.got(media), client, this.media())
  }

  /** The call beside it all is as it was. */
  async assertBystander(): Promise<void> {
    const { client, transceiver } = this.#bystander!
    await this.talk(client, transceiver)
  }

  /** Every reason's drops so far. */
  drops(): ReadonlyMap<DropReason, number> {
    const counts = total(this.relay, ({ counters }) =>
      DROP_REASONS.map((reason) => counters.drops.of(reason)),
    )
    return new Map(DROP_REASONS.map((reason, i) => [reason, counts[i]!]))
  }

  /** Flows confirmed. */
  get confirmed(): number {
    return total(this.relay, ({ flows }) => [flows.confirmed])[0]!
  }
}
