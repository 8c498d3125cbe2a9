/** What an edge's counters say, by way of its own /metrics. */

import { eventually } from '../../../core/testing/check.ts'
import type { TestEdge } from '../../peers/edge.ts'

/** The value of a metric, 0 when it was never counted: `counter(edge, 'relay_drops', { reason: 'no_route' })`. */
export async function counter(
  edge: TestEdge,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<number> {
  const { body } = await edge.edge.admin.inject({ method: 'GET', url: '/metrics' })
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`)
  for (const line of body.split('\n')) {
    if (!line.startsWith(`earshot_${name}_total{`)) continue
    if (wanted.every((label) => line.includes(label))) return Number(line.slice(line.lastIndexOf(' ')))
  }
  return 0
}

/** Waits until a counter has reached `count`. */
export function counted(
  edge: TestEdge,
  name: string,
  labels: Readonly<Record<string, string>>,
  count: number,
): Promise<void> {
  return eventually(
    `${name} ${JSON.stringify(labels)} reached ${count}`,
    async () => (await counter(edge, name, labels)) >= count,
    5000,
  )
}
