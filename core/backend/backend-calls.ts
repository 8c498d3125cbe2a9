/** Calls that have a backend each: connected, then held, both in the call's trace, and counted for all bridges alike. */

import type { Attributes, Counter, Histogram, SpanKind, SpanOptions, UpDownCounter } from '@opentelemetry/api'
import { inCallSpan } from '../call-span.ts'
import type { BridgeCall } from '../contracts/inference-bridge.ts'
import { EdgeError } from '../errors.ts'
import type { Context } from '../plugin.ts'

/** The part of the host that is needed for it. */
export type BackendContext = Pick<Context, 'tracer' | 'tracing' | 'meter'>

/** By its number, since plugins' door leads past this file and most of what uses that makes no span. */
const CLIENT: SpanKind.CLIENT = 2
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The calls of one bridge. */
export class BackendCalls {
  readonly #context: BackendContext
  readonly #spans: SpanOptions
  readonly #conversations: UpDownCounter
  readonly #connectTime: Histogram
  readonly #failures: Counter

  /**
   * Registers the metrics `conversations`, `connect.duration` (in seconds) and `failures` (by `code`) behind `prefix` and a
   * dot. Of `url`, which may hold a secret, spans carry the name and the port.
   */
  constructor(context: BackendContext, prefix: string, url: string) {
    this.#context = context
    this.#spans = { kind: CLIENT, attributes: serverOf(url) }
    const { meter } = context
    this.#conversations = meter.createUpDownCounter(`${prefix}.conversations`, {
      description: 'Conversations with a backend that are going on.',
      unit: '{conversation}',
    })
    this.#connectTime = meter.createHistogram(`${prefix}.connect.duration`, {
      description: 'How long connecting took.',
      unit: 's',
      advice: { explicitBucketBoundaries: SECONDS },
    })
    this.#failures = meter.createCounter(`${prefix}.failures`, {
      description: 'Conversations that failed, by error code.',
      unit: '{conversation}',
    })
  }

  /**
   * Serves one call: `connect` in a span `bridge.connect`, then `converse` in a span `bridge.session`. Nothing more happens
   * when `connect` gives nothing, as when the call is over by then. Rejects as they do.
   */
  async serve<T>(
    call: BridgeCall,
    connect: () => Promise<T | undefined>,
    converse: (connection: T) => Promise<void>,
  ): Promise<void> {
    try {
      const started = performance.now()
      const connection = await inCallSpan(this.#context, call, 'bridge.connect', connect, this.#spans)
      if (connection === undefined) return
      this.#connectTime.record((performance.now() - started) / 1000)
      const held = () => this.#hold(connection, converse)
      await inCallSpan(this.#context, call, 'bridge.session', held, this.#spans)
    } catch (error) {
      this.#failures.add(1, { code: error instanceof EdgeError ? error.code : 'internal' })
      throw error
    }
  }

  async #hold<T>(connection: T, converse: (connection: T) => Promise<void>): Promise<void> {
    this.#conversations.add(1)
    try {
      await converse(connection)
    } finally {
      this.#conversations.add(-1)
    }
  }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'ws:': 80 }

function serverOf(url: string): Attributes {
  const { hostname, port, protocol } = new URL(url)
  return { 'server.address': hostname, 'server.port': Number(port) || (DEFAULT_PORTS[protocol] ?? 443) }
}
