/** A bridge to any backend that speaks this plugin's small WebSocket protocol. */

import {
  type Attributes,
  type Counter,
  type Histogram,
  type Span,
  SpanKind,
  SpanStatusCode,
  type UpDownCounter,
} from '@opentelemetry/api'
import type { WebSocket } from 'ws'
import {
  type AudioFormat,
  type BridgeCall,
  type Context,
  connectWebSocket,
  EdgeError,
  type InferenceBridge,
} from '../../../core/index.ts'
import { Conversation } from './conversation.ts'
import type { WebSocketOptions } from './options.ts'

/** The part of the host that the bridge uses. */
export type BridgeContext = Pick<Context, 'tracer' | 'tracing' | 'meter'>

/** Connects once a call. */
export class WebSocketBridge implements InferenceBridge {
  readonly audio: AudioFormat
  readonly #options: WebSocketOptions
  readonly #server: Attributes
  readonly #context: BridgeContext
  readonly #conversations: UpDownCounter
  readonly #failures: Counter
  readonly #connectTime: Histogram

  constructor(options: WebSocketOptions, context: BridgeContext) {
    this.audio = { pcm16: options.rate }
    this.#options = options
    this.#server = serverOf(options.url)
    this.#context = context
    const { meter } = context
    this.#conversations = meter.createUpDownCounter('earshot.websocket_bridge.conversations', {
      description: 'Conversations with a backend that are going on.',
      unit: '{conversation}',
    })
    this.#failures = meter.createCounter('earshot.websocket_bridge.failures', {
      description: 'Conversations that failed, by error code.',
      unit: '{conversation}',
    })
    this.#connectTime = meter.createHistogram('earshot.websocket_bridge.connect.duration', {
      description: 'How long connecting took.',
      unit: 's',
      advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] },
    })
  }

  /** Serves one call. Rejects with EdgeError `bridge_failed` or `bridge_timeout`. */
  async open(call: BridgeCall): Promise<void> {
    try {
      const started = performance.now()
      const socket = await this.#inSpan('bridge.connect', call, () => this.#connect(call))
      if (!socket) return
      this.#connectTime.record((performance.now() - started) / 1000)
      await this.#inSpan('bridge.session', call, () => this.#converse(socket, call))
    } catch (error) {
      this.#failures.add(1, { code: error instanceof EdgeError ? error.code : 'internal' })
      throw error
    }
  }

  #connect(call: BridgeCall): Promise<WebSocket | undefined> {
    return connectWebSocket({ ...this.#options, url: new URL(this.#options.url) }, call.signal)
  }

  async #converse(socket: WebSocket, call: BridgeCall): Promise<void> {
    this.#conversations.add(1)
    try {
      await new Conversation(socket, call, this.#options).run()
    } finally {
      this.#conversations.add(-1)
    }
  }

  async #inSpan<T>(name: string, call: BridgeCall, run: () => Promise<T>): Promise<T> {
    const parent = this.#context.tracing.parent(call.traceSession)
    const options = { kind: SpanKind.CLIENT, attributes: this.#server }
    const span = this.#context.tracer.startSpan(name, options, parent)
    try {
      return await run()
    } catch (error) {
      markFailed(span, error)
      throw error
    } finally {
      span.end()
    }
  }
}

/** The backend's name and port; of its URL nothing else, which may hold a secret. */
function serverOf(url: string): Attributes {
  const { hostname, port, protocol } = new URL(url)
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'wss:' ? 443 : 80) }
}

function markFailed(span: Span, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  span.setStatus({ code: SpanStatusCode.ERROR, message })
  if (error instanceof EdgeError) span.setAttribute('error.type', error.code)
}
