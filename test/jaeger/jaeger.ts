/** Jaeger as a process of its own, in memory, on loopback ports that were free; and its query API. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../core/testing/check.ts'
import { freePort } from '../peers/free-port.ts'

/** A span as Jaeger's `/api/traces/{id}` has it; times in microseconds. */
export interface JaegerSpan {
  readonly spanID: string
  readonly operationName: string
  readonly references: readonly {
    readonly refType: string
    readonly traceID: string
    readonly spanID: string
  }[]
  readonly startTime: number
  readonly duration: number
  readonly tags: readonly { readonly key: string; readonly value: unknown }[]
  readonly processID: string
}

/** A trace as Jaeger has it. */
export interface JaegerTrace {
  readonly traceID: string
  readonly spans: readonly JaegerSpan[]
  readonly processes: Readonly<Record<string, { readonly serviceName: string }>>
}

/** A running Jaeger. Close it: `await using`. */
export class Jaeger implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #query: string
  /** Where it takes OTLP over HTTP. */
  readonly otlp: string

  private constructor(child: ChildProcess, folder: string, query: number, otlp: number) {
    this.#child = child
    this.#folder = folder
    this.#query = `http://127.0.0.1:${query}`
    this.otlp = `http://127.0.0.1:${otlp}`
  }

  /** Starts the program and waits until its API answers. */
  static async start(program: string): Promise<Jaeger> {
    const [query, grpc, otlp] = [await freePort(), await freePort(), await freePort()]
    const folder = await mkdtemp(join(tmpdir(), 'earshot-jaeger-'))
    const file = join(folder, 'jaeger.yaml')
    await writeFile(file, config(query, grpc, otlp))
    const child = spawn(program, ['--config', file], { stdio: ['ignore', 'ignore', 'pipe'] })
    const said: string[] = []
    child.stderr?.on('data', (text) => said.push(String(text)))
    const jaeger = new Jaeger(child, folder, query, otlp)
    try {
      await eventually('Jaeger answers', () => jaeger.#answers(), 30_000)
    } catch (error) {
      await jaeger[Symbol.asyncDispose]()
      throw new Error(`Jaeger does not start:\n${said.join('')}`, { cause: error })
    }
    return jaeger
  }

  /** A trace as far as it has come, or undefined. */
  async trace(traceId: string): Promise<JaegerTrace | undefined> {
    const response = await fetch(`${this.#query}/api/traces/${traceId}`)
    const { data }: { data: JaegerTrace[] | null } = JSON.parse(await response.text())
    return data?.[0]
  }

  /** Waits until a trace has all these spans. */
  async traceWith(traceId: string, names: readonly string[], withinMs = 15_000): Promise<JaegerTrace> {
    let found: JaegerTrace | undefined
    const hasAll = async (): Promise<boolean> => {
      found = await this.trace(traceId)
      return names.every((name) => found?.spans.some(({ operationName }) => operationName === name))
    }
    await eventually(`Jaeger has ${names.join(', ')}`, hasAll, withinMs)
    return found!
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'close')
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL')
      await gone
    }
    await rm(this.#folder, { recursive: true })
  }

  async #answers(): Promise<boolean> {
    if (this.#child.exitCode !== null) throw new Error(`it ended with ${this.#child.exitCode}`)
    const response = await fetch(`${this.#query}/api/services`).catch(() => undefined)
    return response?.ok ?? false
  }
}

const config = (query: number, grpc: number, otlp: number): string => `
service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces: { receivers: [otlp], processors: [batch], exporters: [jaeger_storage_exporter] }
  telemetry: { metrics: { level: none }, logs: { level: warn } }
extensions:
  jaeger_query:
    storage: { traces: memory }
    http: { endpoint: "127.0.0.1:${query}" }
    grpc: { endpoint: "127.0.0.1:${grpc}" }
  jaeger_storage:
    backends: { memory: { memory: { max_traces: 1000 } } }
receivers:
  otlp: { protocols: { http: { endpoint: "127.0.0.1:${otlp}" } } }
processors:
  batch: { timeout: 100ms }
exporters:
  jaeger_storage_exporter: { trace_storage: memory }
`
