/**
 * A transceiver without a host or a kernel: its socket on a memory network, taking clients' packets bare, its table of
 * calls, and a bridge of the test's.
 */

import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import type { BridgeCall, EdgeError, InferenceBridge, Principal } from '../../../../core/index.ts'
import { createTelemetry } from '../../../../core/telemetry.ts'
import { eventually } from '../../../../core/testing/check.ts'
import { MemoryNetwork } from '../../../../core/testing/memory-udp.ts'
import { SealedCodec } from '../../../../plugins/routing-codec/sealed/codec.ts'
import { Dispatch } from '../../../../plugins/transceiver/dispatch.ts'
import { dtlsIdentity } from '../../../../plugins/transceiver/peer/dtls-context.ts'
import type { Session } from '../../../../plugins/transceiver/session.ts'
import { Sessions } from '../../../../plugins/transceiver/sessions.ts'
import type { SessionsOptions } from '../../../../plugins/transceiver/sessions-options.ts'
import { TransceiverSocket } from '../../../../plugins/transceiver/socket.ts'
import { TestClient } from '../../../peers/client.ts'
import type { ClientOptions } from '../../../peers/client-options.ts'
import type { Post } from '../../../peers/signaling.ts'
import { address } from './ice/support.ts'

/** A bridge for Opus from the one function that makes it. */
export function bridgeOf(open: (call: BridgeCall) => Promise<void>): InferenceBridge {
  return { audio: 'opus', open }
}

/** A bridge that does nothing until its call ends. */
export const idle: InferenceBridge = bridgeOf(
  (call) => new Promise((resolve) => call.signal.addEventListener('abort', () => resolve())),
)

/** How a call ended, as the log hears of it. */
export interface Ended {
  readonly id: string
  readonly caller: string
  readonly reason: string
  readonly durationMs: number
  readonly fault: EdgeError | undefined
}

/** The transceiver. It is closed at the end of the scope: `await using`. */
export class Rig implements AsyncDisposable {
  readonly network = new MemoryNetwork()
  readonly dispatch = new Dispatch()
  readonly ended: Ended[] = []
  readonly sessions: Sessions
  readonly socket: TransceiverSocket
  readonly caller: Principal = { name: 'alice' }
  readonly #exporter = new InMemorySpanExporter()

  private constructor(
    network: MemoryNetwork,
    dispatch: Dispatch,
    socket: TransceiverSocket,
    options: Partial<SessionsOptions>,
  ) {
    this.network = network
    this.dispatch = dispatch
    this.socket = socket
    const telemetry = createTelemetry({
      version: '0',
      env: {},
      spanProcessors: [new SimpleSpanProcessor({ exporter: this.#exporter })],
    })
    this.sessions = new Sessions(
      {
        cluster: 1,
        address: socket.local,
        advertise: [socket.local],
        codec: new SealedCodec([{ id: 1, key: '00112233445566778899aabbccddeeff' }]),
        bridge: idle,
        identity: dtlsIdentity(),
        tracer: telemetry.tracer('transceiver'),
        tracing: telemetry.tracing,
        maxCalls: 100,
        connectMs: 30_000,
        maxCallMs: 3_600_000,
        onEnded: (call) => void this.ended.push(call),
        ...options,
      },
      socket,
    )
    dispatch.serve(this.sessions.routes)
  }

  static async open(options: Partial<SessionsOptions> = {}): Promise<Rig> {
    const network = new MemoryNetwork()
    const dispatch = new Dispatch()
    const socket = await TransceiverSocket.open(
      { engine: network.engine, address: address('192.0.2.1:3479'), relays: [], direct: true },
      dispatch,
    )
    return new Rig(network, dispatch, socket, options)
  }

  /** Starts a call of `caller`'s; the URL is its id. */
  readonly post: Post = async (offer) => {
    const { id, sdp } = await this.sessions.create({ sdp: offer, caller: this.caller })
    return { sdp, url: id }
  }

  /** A client on the memory network. */
  connect(options: ClientOptions = {}): Promise<TestClient> {
    return TestClient.connect(this.post, this.#on(options))
  }

  /** The same, with nothing sent yet. */
  client(options: ClientOptions = {}): Promise<TestClient> {
    return TestClient.open(this.#on(options))
  }

  /** The one session there is. */
  get session(): Session {
    const all = [...this.sessions]
    if (all.length !== 1) throw new Error(`there are ${all.length} sessions`)
    return all[0]!
  }

  /** Spans that have ended, by name. */
  spans(name: string): ReadableSpan[] {
    return this.#exporter.getFinishedSpans().filter((span) => span.name === name)
  }

  /** Waits until no call is left, and nothing that leads to one. */
  async untilIdle(): Promise<void> {
    await eventually('no call is left', () => this.sessions.size === 0)
    const { sessions, ufrags, addresses } = this.sessions.routes.size
    if (sessions + ufrags + addresses > 0)
      throw new Error(`${JSON.stringify(this.sessions.routes.size)} left`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.sessions.close()
    await this.socket.close()
  }

  #on(options: ClientOptions): ClientOptions {
    return { engine: this.network.engine, bind: address('198.51.100.7:0'), ...options }
  }
}
