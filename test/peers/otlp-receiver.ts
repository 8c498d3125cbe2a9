/**
 * A collector for tests: takes OTLP over HTTP as JSON, keeps the spans, and answers what a test asks of them. Point an
 * edge at it with `OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url`. Metrics are taken and only their names kept.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { eventually } from '../../core/testing/check.ts'

/** The value of an attribute, as JSON has it. */
export type AttributeValue = string | number | boolean | readonly AttributeValue[] | undefined

/** Attributes by name. */
export type Attributes = Readonly<Record<string, AttributeValue>>

/** A span as it came. Times in milliseconds since 1970, with fractions. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty for a root. */
  readonly parentSpanId: string
  readonly name: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly start: number
  readonly end: number
  readonly attributes: Attributes
  readonly events: readonly { readonly name: string; readonly at: number }[]
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  /** 0 unset, 1 ok, 2 error. */
  readonly status: number
  readonly resource: Attributes
  readonly scope: string
}

/** A running receiver. Close it: `await using`. */
export class OtlpReceiver implements AsyncDisposable {
  /** All spans, in the order in which they came. */
  readonly spans: ReceivedSpan[] = []
  readonly metricNames = new Set<string>()
  readonly #server: Server
  readonly url: string

  private constructor(server: Server, port: number) {
    this.#server = server
    this.url = `http://127.0.0.1:${port}`
  }

  /** Listens on a port of the system's choice. */
  static async open(): Promise<OtlpReceiver> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const bound = server.address()
    if (bound === null || typeof bound === 'string') throw new Error('it listens on no port')
    const receiver = new OtlpReceiver(server, bound.port)
    server.on('request', (request, response) => {
      receiver.#take(request).then(
        () => response.setHeader('content-type', 'application/json').end('{}'),
        () => response.writeHead(400).end(),
      )
    })
    return receiver
  }

  /** The spans of one trace. */
  trace(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId)
  }

  /** Waits for the span of a trace with this name, the first of them. */
  async span(traceId: string, name: string, withinMs = 10_000): Promise<ReceivedSpan> {
    const find = () => this.spans.find((span) => span.traceId === traceId && span.name === name)
    await eventually(`the span ${name} has come`, () => find() !== undefined, withinMs)
    return find()!
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #take(request: IncomingMessage): Promise<void> {
    const body: Body = JSON.parse(await text(request))
    for (const { resource, scopeSpans } of body.resourceSpans ?? [])
      for (const { scope, spans } of scopeSpans ?? [])
        for (const span of spans) this.spans.push(toSpan(span, read(resource?.attributes), scope?.name ?? ''))
    for (const { scopeMetrics } of body.resourceMetrics ?? [])
      for (const { metrics } of scopeMetrics ?? []) for (const { name } of metrics) this.metricNames.add(name)
  }
}

/** What the collector of one call has, as a tree of names: each span under its parent, in the order they began. */
export function spanTree(
  spans: readonly Pick<ReceivedSpan, 'name' | 'spanId' | 'parentSpanId' | 'start' | 'end'>[],
): string {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const lines: string[] = []
  const add = (parent: string | undefined, indent: string): void => {
    const children = spans
      .filter(({ parentSpanId }) => (parent === undefined ? !ids.has(parentSpanId) : parentSpanId === parent))
      .sort((a, b) => a.start - b.start || a.end - b.end)
    for (const { name, spanId } of children) {
      lines.push(indent + name)
      add(spanId, `${indent}  `)
    }
  }
  add(undefined, '')
  return lines.join('\n')
}

interface AnyValue {
  readonly stringValue?: string
  readonly boolValue?: boolean
  readonly intValue?: string | number
  readonly doubleValue?: number
  readonly arrayValue?: { readonly values?: readonly AnyValue[] }
}

type KeyValues = readonly { readonly key: string; readonly value: AnyValue }[] | undefined

interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind?: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes?: KeyValues
  readonly events?: readonly { readonly name: string; readonly timeUnixNano: string }[]
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status?: { readonly code?: number }
}

interface Body {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: KeyValues }
    readonly scopeSpans?: readonly {
      readonly scope?: { readonly name?: string }
      readonly spans: readonly OtlpSpan[]
    }[]
  }[]
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics?: readonly { readonly metrics: readonly { readonly name: string }[] }[]
  }[]
}

function toSpan(span: OtlpSpan, resource: Attributes, scope: string): ReceivedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    name: span.name,
    kind: span.kind ?? 0,
    start: milliseconds(span.startTimeUnixNano),
    end: milliseconds(span.endTimeUnixNano),
    attributes: read(span.attributes),
    events: (span.events ?? []).map(({ name, timeUnixNano }) => ({ name, at: milliseconds(timeUnixNano) })),
    links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
    status: span.status?.code ?? 0,
    resource,
    scope,
  }
}

/** Nanoseconds since 1970 do not fit a number; their microseconds do. */
const milliseconds = (nanoseconds: string): number => Number(BigInt(nanoseconds) / 1000n) / 1000

function read(pairs: KeyValues): Attributes {
  return Object.fromEntries((pairs ?? []).map(({ key, value }) => [key, plain(value)]))
}

function plain(value: AnyValue): AttributeValue {
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(plain)
  if (value.intValue !== undefined) return Number(value.intValue)
  return value.stringValue ?? value.boolValue ?? value.doubleValue
}
