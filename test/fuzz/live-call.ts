/**
 * A call on real sockets in mid-talk, what it and its beginning sent each way, and the ways for bad datagrams into
 * each of the edge's three UDP ports.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Address, SPP_LENGTH, type UdpPort, writeSpp } from '../../core/index.ts'
import { LossyLink } from '../../core/testing/lossy-link.ts'
import { edgeConfig } from '../integration/support/configs.ts'
import { Conversation } from '../integration/support/conversation.ts'
import { Stranger } from '../integration/support/stranger.ts'
import { WatchedEngine, type WatchedPort } from '../integration/support/watched-engine.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'

/** A way into one port. */
export interface Entrance {
  readonly name: string
  /** The port it leads to. */
  readonly port: UdpPort
  /** Good datagrams, as they come this way. */
  readonly good: readonly Buffer[]
  send(datagram: Buffer): unknown
}

const STRANGERS = 8
const TALK_PACKETS = 150
const MOST_CAPTURED = 400

/** The call. Close it. */
export class LiveCall implements AsyncDisposable {
  readonly edge: TestEdge
  readonly client: TestClient
  readonly talk: Conversation
  /** By port: the relay's public one, its one towards the transceiver, the transceiver's. */
  readonly ports: Readonly<Record<'public' | 'upstream' | 'transceiver', WatchedPort>>
  readonly entrances: readonly Entrance[]
  readonly #link: LossyLink
  readonly #strangers: readonly Stranger[]

  private constructor(
    parts: Pick<LiveCall, 'edge' | 'client' | 'talk' | 'ports'>,
    link: LossyLink,
    strangers: readonly Stranger[],
    captured: ReadonlyMap<WatchedPort, readonly Buffer[]>,
    mapped: Address,
  ) {
    this.edge = parts.edge
    this.client = parts.client
    this.talk = parts.talk
    this.ports = parts.ports
    this.#link = link
    this.#strangers = strangers
    this.entrances = this.#entrances(captured, mapped)
  }

  /** Starts an edge, calls it by a link, talks for a while and goes on talking. */
  static async start(): Promise<LiveCall> {
    const udp = new WatchedEngine()
    const captured = new Map<WatchedPort, Buffer[]>()
    udp.watch = (way, port, bytes, start, end) => {
      const list = captured.get(port) ?? []
      captured.set(port, list)
      // What a port sends comes back to it here as well, by somebody who reflects it.
      if (list.length < MOST_CAPTURED && (way === 'in' || list.length % 4 === 0)) {
        list.push(Buffer.from(bytes.subarray(start, end)))
      }
    }
    const edge = await startEdge({ udp, config: edgeConfig() })
    const [outside, upstream, transceiver] = udp.ports
    const link = await LossyLink.open({ server: outside!.local })
    const client = await TestClient.connect(edge.post, { via: link.address })
    const talk = new Conversation(client)
    await talk.exchange(TALK_PACKETS)
    udp.watch = undefined
    const strangers = await Promise.all(
      Array.from({ length: STRANGERS }, () => Stranger.open(outside!.local, false)),
    )
    const ports = { public: outside!, upstream: upstream!, transceiver: transceiver! }
    return new LiveCall({ edge, client, talk, ports }, link, strangers, captured, await link.mapped())
  }

  /** Errors of receivers, at any port. */
  get receiveErrors(): number {
    return Object.values(this.ports).reduce((sum, { counters }) => sum + counters.receiveErrors, 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close()
    await this.edge.close()
    await this.#link.close()
    for (const stranger of this.#strangers) await stranger.close()
  }

  #entrances(captured: ReadonlyMap<WatchedPort, readonly Buffer[]>, mapped: Address): Entrance[] {
    const { public: outside, upstream, transceiver } = this.ports
    const frames = [upstream, transceiver].flatMap((port) => captured.get(port) ?? [])
    const bare = captured.get(outside) ?? []
    const framed = (payload: Buffer): Buffer => {
      const frame = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
      writeSpp(frame, 0, mapped, outside.local)
      return frame
    }
    let turn = 0
    const fromStranger = (datagram: Buffer, port: UdpPort): void =>
      this.#strangers[turn++ % STRANGERS]!.send(datagram, port.local)
    const from = (port: WatchedPort, datagram: Buffer, to: WatchedPort): void =>
      port.send(datagram, 0, datagram.length, to.local)
    return [
      { name: 'the client’s own address', port: outside, good: bare, send: (d) => this.#link.spoof(d) },
      { name: 'strangers', port: outside, good: [...bare, ...frames], send: (d) => fromStranger(d, outside) },
      {
        name: 'the transceiver, framing changed too',
        port: upstream,
        good: frames,
        send: (d) => from(transceiver, d, upstream),
      },
      {
        name: 'the transceiver, well framed',
        port: upstream,
        good: bare,
        send: (d) => from(transceiver, framed(d), upstream),
      },
      {
        name: 'strangers',
        port: upstream,
        good: [...frames, ...bare],
        send: (d) => fromStranger(d, upstream),
      },
      {
        name: 'the relay, framing changed too',
        port: transceiver,
        good: frames,
        send: (d) => from(upstream, d, transceiver),
      },
      {
        name: 'the relay, well framed',
        port: transceiver,
        good: bare,
        send: (d) => from(upstream, framed(d), transceiver),
      },
      {
        name: 'another relay, well framed',
        port: transceiver,
        good: bare,
        send: (d) => fromStranger(framed(d), transceiver),
      },
      {
        name: 'strangers',
        port: transceiver,
        good: [...bare, ...frames],
        send: (d) => fromStranger(d, transceiver),
      },
    ]
  }
}

let collect: (() => void) | undefined

/** Bytes in use after a collection. */
export function memoryInUse(): number {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    const gc: unknown = runInNewContext('gc')
    collect = () => typeof gc === 'function' && gc()
  }
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
