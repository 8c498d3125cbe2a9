/** What the host gives a plugin at setup, without a host: nothing listens, nothing is exported, logs are kept. */

import { metrics } from '@opentelemetry/api'
import fastify, { type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { answerErrors } from '../http-errors.ts'
import type { Context } from '../plugin.ts'
import { MemoryNetwork } from './memory-udp.ts'
import { type RecordedSpan, SpanLog } from './span-log.ts'

/** A context, and the host's part in the life of a plugin. */
export interface PluginContext {
  readonly context: Context
  /** UDP ports opened through the context meet here, unless another engine was given. */
  readonly network: MemoryNetwork
  /** What was logged, as pino writes it: `level`, `msg` and the fields. */
  readonly logs: readonly Record<string, unknown>[]
  /** The spans that were begun by the context's tracer. */
  readonly spans: readonly RecordedSpan[]
  /** Runs what was given to `onReady`. */
  ready(): Promise<void>
  /** Runs what was given to `onDrain`. */
  drain(deadline?: AbortSignal): Promise<void>
  /** Aborts `signal`, runs what was given to `onClose`, last first, and closes the HTTP scopes. */
  close(): Promise<void>
}

/** Makes a context; `parts` replaces what a test wants otherwise. */
export function pluginContext(parts: Partial<Context> = {}): PluginContext {
  const network = new MemoryNetwork()
  const logs: Record<string, unknown>[] = []
  const stop = new AbortController()
  const onReady: (() => unknown)[] = []
  const onDrain: ((deadline: AbortSignal) => unknown)[] = []
  const onClose: (() => unknown)[] = []
  const { spans, tracer, tracing } = new SpanLog()
  const context: Context = {
    id: 'under-test',
    node: { cluster: 1, advertise: undefined, reachable: false },
    log: pino({ level: 'trace', base: null }, { write: (line: string) => logs.push(JSON.parse(line)) }),
    tracer,
    meter: metrics.getMeter('earshot-testing'),
    tracing,
    http: scope(),
    admin: scope(),
    udp: network.engine,
    authenticate: () => ({ name: 'anonymous' }),
    principalOf: (_request, name) => ({ name }),
    signal: stop.signal,
    onReady: (run) => void onReady.push(run),
    onDrain: (run) => void onDrain.push(run),
    onClose: (run) => void onClose.push(run),
    ...parts,
  }
  return {
    context,
    network,
    logs,
    spans,
    async ready() {
      for (const run of onReady) await run()
    },
    async drain(deadline = stop.signal) {
      await Promise.all(onDrain.map((run) => run(deadline)))
    },
    async close() {
      stop.abort()
      for (const run of onClose.splice(0).reverse()) await run()
      await Promise.all([context.http.close(), context.admin.close()])
    },
  }
}

/** A scope that answers errors in the host's shape. */
function scope(): FastifyInstance {
  const instance = fastify()
  answerErrors(instance)
  return instance
}
