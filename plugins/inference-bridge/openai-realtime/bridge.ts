/** A bridge to backends that speak OpenAI Realtime over a WebSocket. */

import type { Counter } from '@opentelemetry/api'
import type { WebSocket } from 'ws'
import {
  type AudioFormat,
  BackendCalls,
  type BackendContext,
  type BridgeCall,
  connectWebSocket,
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
  readonly #context: BackendContext
  readonly #calls: BackendCalls
  readonly #interruptions: Counter

  constructor(options: RealtimeOptions, context: BackendContext) {
    this.audio = { pcm16: options.rate }
    this.#options = options
    this.#can = capabilitiesOf(options.backend, options.capabilities)
    this.#session = JSON.parse(JSON.stringify(options.session))
    this.#context = context
    this.#calls = new BackendCalls(context, 'earshot.openai_realtime', options.url)
    this.#interruptions = context.meter.createCounter('earshot.openai_realtime.interruptions', {
      description: 'Answers that were interrupted, by whom: the caller’s speech, or the client.',
      unit: '{interruption}',
    })
  }

  /** Serves one call. Rejects with EdgeError `bridge_failed` or `bridge_timeout`. */
  open(call: BridgeCall): Promise<void> {
    return this.#calls.serve(
      call,
      () => this.#connect(call),
      (socket) => this.#conversation(socket, call).run(),
    )
  }

  #connect(call: BridgeCall): Promise<WebSocket | undefined> {
    const { connectTimeoutMs, maxMessageBytes } = this.#options
    const url = urlFor(this.#options, call)
    const headers = headersFor(this.#options, this.#can)
    return connectWebSocket({ url, headers, connectTimeoutMs, maxMessageBytes }, call.signal)
  }

  #conversation(socket: WebSocket, call: BridgeCall): Conversation {
    const { rate, connectTimeoutMs, idleTimeoutMs, maxQueuedMs } = this.#options
    const { tracer, tracing } = this.#context
    return new Conversation(socket, call, {
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
  }
}
