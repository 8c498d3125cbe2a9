/** All metrics as Prometheus text, collected when somebody asks and at no other time. */

import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { type MetricData, MetricReader } from '@opentelemetry/sdk-metrics'

/** What Prometheus calls a unit, at a name's end (OpenTelemetry's Prometheus compatibility). */
const SUFFIXES: Readonly<Record<string, string>> = { s: '_seconds', ms: '_milliseconds', By: '_bytes' }

/** A reader that answers with text. The scope stays a label: two plugins may count under one name. */
export class PrometheusText extends MetricReader {
  readonly #serializer = new PrometheusSerializer()

  async text(): Promise<string> {
    const { resourceMetrics } = await this.collect()
    const scopeMetrics = resourceMetrics.scopeMetrics.map(({ scope, metrics }) => ({
      scope,
      metrics: metrics.map(withUnit),
    }))
    return this.#serializer.serialize({ ...resourceMetrics, scopeMetrics })
  }

  protected override async onShutdown(): Promise<void> {}

  protected override async onForceFlush(): Promise<void> {}
}

/** The metric's name in Prometheus' text: `earshot.x.duration` in seconds is `earshot_x_duration_seconds`. */
export function prometheusName(name: string, unit: string, isCounter: boolean): string {
  const plain = name.replaceAll('.', '_')
  const suffix = SUFFIXES[unit] ?? ''
  return `${plain.endsWith(suffix) ? plain : plain + suffix}${isCounter ? '_total' : ''}`
}

function withUnit<T extends MetricData>(metric: T): T {
  const { descriptor } = metric
  return {
    ...metric,
    descriptor: { ...descriptor, name: prometheusName(descriptor.name, descriptor.unit, false) },
  }
}
