/**
 * OpenTelemetry for the process: spans and metrics by OTLP/HTTP when a collector is named, metrics as Prometheus text
 * always. Nothing is registered globally; plugins get theirs from the host.
 */

import { randomUUID } from 'node:crypto'
import { DiagLogLevel, diag, type Meter, ROOT_CONTEXT, SpanKind, type Tracer } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { type IMetricReader, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import { CallIdGenerator, type CallTracing, createCallTracing } from './call-tracing.ts'
import { isObject } from './config/pointer.ts'
import { PrometheusText } from './prometheus-text.ts'
import { observeRuntime } from './runtime-metrics.ts'

/** How long a finished span waits for company, so that a call can be looked at while it goes on. Milliseconds. */
const SPAN_DELAY_MS = 1000

/** How to report. */
export interface TelemetryOptions {
  /** Base URL of an OTLP/HTTP collector; the standard OTEL_* variables name one as well. */
  readonly otlp?: string | undefined
  readonly version: string
  /** The ids of this process's plugins: by them a trace shows which process a span is of. */
  readonly plugins?: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Gets every span besides the exporter; then spans are recorded though no collector is named. */
  readonly spanProcessors?: readonly SpanProcessor[]
}

/** The process's telemetry. */
export interface Telemetry {
  /** For one plugin; its id becomes the scope's name. */
  tracer(scope: string): Tracer
  meter(scope: string): Meter
  readonly tracing: CallTracing
  /** All metrics in Prometheus' text format. */
  metricsText(): Promise<string>
  /** Sends what is left, waiting at most `milliseconds`. Never rejects. */
  close(milliseconds: number): Promise<void>
}

/** Sends what the SDK has to complain of, such as a collector that is away, to the log. */
export function reportTelemetryFaults(log: Logger): void {
  const warn = (message: string): void =>
    log.warn({ detail: plainDetail(message) }, 'telemetry has a problem; calls go on')
  const ignore = (): void => {}
  const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

/** The SDK writes an error as JSON with its stack; what an operator wants of it is the message. */
function plainDetail(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text)
    return isObject(parsed) && typeof parsed.message === 'string' ? parsed.message : text
  } catch {
    return text
  }
}

/** Starts telemetry. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { env } = options
  const off = env.OTEL_SDK_DISABLED === 'true'
  const resource = resourceOf(options)
  const reader = new PrometheusText()
  const push = off ? undefined : metricReader(options)
  const metrics = new MeterProvider({ resource, readers: [reader, ...(push ? [push] : [])] })
  const exporter = off ? undefined : traceExporter(options)
  const spanProcessors = [
    ...(options.spanProcessors ?? []),
    ...(exporter ? [batches(exporter, metrics, env)] : []),
  ]
  const sampler = spanProcessors.length > 0 ? samplerFrom(env) : new AlwaysOffSampler()
  const ids = new CallIdGenerator()
  const traces = new TracerProvider({ resource, sampler, idGenerator: ids, spanProcessors })
  const endRuntime = observeRuntime(metrics.getMeter('earshot'))
  const sampled = (traceId: string): boolean =>
    sampler.shouldSample(ROOT_CONTEXT, traceId, 'call', SpanKind.SERVER, {}, []).decision ===
    SamplingDecision.RECORD_AND_SAMPLED
  return {
    tracer: (scope) => traces.getTracer(scope, options.version),
    meter: (scope) => metrics.getMeter(scope),
    tracing: createCallTracing(
      traces.getTracer('earshot', options.version),
      ids,
      sampled,
      spanProcessors.length > 0,
    ),
    metricsText: () => reader.text(),
    close: async (milliseconds) => {
      endRuntime()
      const late = new Promise<void>((done) => setTimeout(done, milliseconds).unref())
      await Promise.race([Promise.allSettled([traces.shutdown(), metrics.shutdown()]), late])
    },
  }
}

function resourceOf({ version, plugins }: TelemetryOptions): Resource {
  const own = resourceFromAttributes({
    'service.name': 'earshot',
    'service.version': version,
    'service.instance.id': randomUUID(),
    ...(plugins ? { 'earshot.plugins': [...plugins] } : {}),
  })
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }))
}

/** Sends spans together, after SPAN_DELAY_MS or OTEL_BSP_SCHEDULE_DELAY, and counts those there was no room for. */
function batches(
  exporter: OTLPTraceExporter,
  selfObsMeterProvider: MeterProvider,
  { OTEL_BSP_SCHEDULE_DELAY: named }: TelemetryOptions['env'],
): SpanProcessor {
  const scheduledDelayMillis = named && Number(named) >= 0 ? Number(named) : SPAN_DELAY_MS
  return new BatchSpanProcessor({ exporter, scheduledDelayMillis, selfObsMeterProvider })
}

function traceExporter({ otlp, env }: TelemetryOptions): OTLPTraceExporter | undefined {
  if (env.OTEL_TRACES_EXPORTER === 'none') return undefined
  if (otlp !== undefined) return new OTLPTraceExporter({ url: endpoint(otlp, 'traces') })
  const named = env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  return named ? new OTLPTraceExporter() : undefined
}

function metricReader({ otlp, env }: TelemetryOptions): IMetricReader | undefined {
  if (env.OTEL_METRICS_EXPORTER === 'none') return undefined
  const named = env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT
  if (otlp === undefined && !named) return undefined
  const exporter = new OTLPMetricExporter(otlp === undefined ? {} : { url: endpoint(otlp, 'metrics') })
  return new PeriodicExportingMetricReader({ exporter })
}

const endpoint = (base: string, signal: string): string => `${base.replace(/\/+$/, '')}/v1/${signal}`

/**
 * The sampler of OTEL_TRACES_SAMPLER. It decides by trace id alone, never by a parent: so every process that sees a
 * piece of a call decides alike.
 */
function samplerFrom(env: TelemetryOptions['env']): Sampler {
  const name = (env.OTEL_TRACES_SAMPLER ?? '').replace('parentbased_', '')
  if (name === 'always_off') return new AlwaysOffSampler()
  if (name !== 'traceidratio') return new AlwaysOnSampler()
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG ?? 1)
  return new TraceIdRatioBasedSampler(Number.isFinite(ratio) ? ratio : 1)
}
