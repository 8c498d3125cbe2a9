/** A bridge to backends that speak OpenAI Realtime over a WebSocket. */

import {
  type Counter,
  type Histogram,
  type Span,
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
  type JsonObject,
  randomBytes,
} from '../../../core/index.ts'
import { Conversation } from './conversation.ts'
import type { RealtimeOptions } from './options.ts'
import { type Capabilities, capabilitiesOf } from './pure/capabilities.ts'
import { merge } from './pure/json.ts'
import type { World } from './pure/world.ts'
import { headersFor, urlFor } from './request.ts'
import { Turns } from './turns.ts'

/** The part of the host that the bridge uses. */
export type BridgeContext = Pick<Context, 'tracer' | 'tracing' | 'meter'>

const world: World = {
  eventId: () => `event_${randomBytes(12).toString('hex')}`,
  unixSeconds: () => Math.floor(Date.now() / 1000),
}

/** Connects once a call. */
export class RealtimeBridge implements InferenceBridge {
  readonly audio: AudioFormat
  readonly #options: RealtimeOptions
  readonly #can: Capabilities
  readonly #session: JsonObject
  readonly #context: BridgeContext
  readonly #conversations: UpDownCounter
  readonly #connectTime: Histogram
  readonly #failures: Counter
  readonly #interruptions: Counter

  constructor(options: RealtimeOptions, context: BridgeContext) {
    this.audio = { pcm16: options.rate }
    this.#options = options
    this.#can = capabilitiesOf(options.backend, options.capabilities)
    this.#session = JSON.parse(JSON.stringify(options.session))
    this.#context = context
    const { meter } = context
    this.#conversations = meter.createUpDownCounter('earshot.openai_realtime.conversations', {
      description: 'Conversations with a backend that are going on.',
      unit: '{conversation}',
    })
    this.#connectTime = meter.createHistogram('earshot.openai_realtime.connect.duration', {
      description: 'How long connecting took.',
      unit: 's',
      advice: { explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] },
    })
    this.#failures = meter.createCounter('earshot.openai_realtime.failures', {
      description: 'Conversations that failed, by error code.',
      unit: '{conversation}',
    })
    this.#interruptions = meter.createCounter('earshot.openai_realtime.interruptions', {
      description: 'Answers that were interrupted, by whom: the caller’s speech, or the client.',
      unit: '{interruption}',
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
    const { connectTimeoutMs, maxMessageBytes } = this.#options
    const url = urlFor(this.#options, call)
    const headers = headersFor(this.#options, this.#can)
    return connectWebSocket({ url, headers, connectTimeoutMs, maxMessageBytes }, call.signal)
  }

  async #converse(socket: WebSocket, call: BridgeCall): Promise<void> {
    const { rate, connectTimeoutMs, idleTimeoutMs, maxQueuedMs } = this.#options
    const { tracer, tracing } = this.#context
    this.#conversations.add(1)
    try {
      const conversation = new Conversation(socket, call, {
        can: this.#can,
        rate,
        connectTimeoutMs,
        idleTimeoutMs,
        maxQueuedMs,
        world,
        session: merge(this.#session, call.session ?? {}),
        turns: new Turns(tracer, tracing.parent(call.traceSession)),
        onInterrupted: (by) => this.#interruptions.add(1, { by }),
      })
      await conversation.run()
    } finally {
      this.#conversations.add(-1)
    }
  }

  async #inSpan<T>(name: string, call: BridgeCall, run: () => Promise<T>): Promise<T> {
    const parent = this.#context.tracing.parent(call.traceSession)
    const span = this.#context.tracer.startSpan(name, {}, parent)
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

function markFailed(span: Span, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  span.setStatus({ code: SpanStatusCode.ERROR, message })
  if (error instanceof EdgeError) span.setAttribute('error.type', error.code)
}
