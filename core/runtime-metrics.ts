/**
 * What the process costs and how late its event loop is, under the names of OpenTelemetry's semantic conventions.
 * Audio is sent by this loop: where its delay grows, callers hear it.
 */

import { monitorEventLoopDelay, PerformanceObserver, constants as perf, performance } from 'node:perf_hooks'
import type { Meter } from '@opentelemetry/api'

const GC_TYPES: Readonly<Record<number, string>> = {
  [perf.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [perf.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [perf.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [perf.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
}

/** How finely the delay is measured; a wake-up of the loop each time. Milliseconds. */
const RESOLUTION_MS = 20
/** Two readers of the metrics, one at a time: neither cuts the other's window shorter than this. Milliseconds. */
const WINDOW_MS = 10_000
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25]

/** Registers the process's own metrics; docs/metrics.md lists them. Returns what ends the measuring. */
export function observeRuntime(meter: Meter): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  observeLoop(meter, delay)
  observeProcess(meter)
  const collections = observeCollections(meter)
  return () => {
    delay.disable()
    collections.disconnect()
  }
}

function observeLoop(meter: Meter, delay: ReturnType<typeof monitorEventLoopDelay>): void {
  const gauge = (name: string, description: string) =>
    meter.createObservableGauge(`nodejs.eventloop.${name}`, { unit: 's', description })
  const median = gauge('delay.p50', 'How late the event loop was, half of the time')
  const most = gauge('delay.p99', 'How late the event loop was, 99 of 100 times')
  const longest = gauge('delay.max', 'How late the event loop was at most')
  const utilization = meter.createObservableGauge('nodejs.eventloop.utilization', {
    unit: '1',
    description: 'The part of the time in which the event loop was not idle',
  })
  let since = performance.eventLoopUtilization()
  let resetAt = performance.now()
  meter.addBatchObservableCallback(
    (result) => {
      // Nanoseconds of whole intervals; what is over the interval is the delay.
      const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)
      result.observe(median, seconds(delay.percentile(50)))
      result.observe(most, seconds(delay.percentile(99)))
      result.observe(longest, seconds(delay.max))
      result.observe(utilization, performance.eventLoopUtilization(since).utilization)
      if (performance.now() - resetAt < WINDOW_MS) return
      resetAt = performance.now()
      since = performance.eventLoopUtilization()
      delay.reset()
    },
    [median, most, longest, utilization],
  )
}

function observeProcess(meter: Meter): void {
  meter
    .createObservableUpDownCounter('process.memory.usage', { unit: 'By', description: 'Resident memory' })
    .addCallback((result) => result.observe(process.memoryUsage.rss()))
  meter
    .createObservableCounter('process.cpu.time', { unit: 's', description: 'CPU time of all threads' })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage()
      result.observe(user / 1e6, { 'cpu.mode': 'user' })
      result.observe(system / 1e6, { 'cpu.mode': 'system' })
    })
  meter
    .createObservableGauge('process.uptime', { unit: 's', description: 'Time since the process began' })
    .addCallback((result) => result.observe(process.uptime()))
}

function observeCollections(meter: Meter): PerformanceObserver {
  const duration = meter.createHistogram('v8js.gc.duration', {
    unit: 's',
    description: 'Garbage collections',
    advice: { explicitBucketBoundaries: SECONDS },
  })
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const kind = 'detail' in entry ? kindOf(entry.detail) : 0
      duration.record(entry.duration / 1000, { 'v8js.gc.type': GC_TYPES[kind] ?? 'other' })
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return observer
}

function kindOf(detail: unknown): number {
  const known = typeof detail === 'object' && detail !== null && 'kind' in detail
  return known && typeof detail.kind === 'number' ? detail.kind : 0
}
