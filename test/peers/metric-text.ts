/** Reads a value out of what an edge serves at /metrics (Prometheus text format). */

/** The sum of a metric over all label sets that have `labels`; 0 when there is none. */
export function metricIn(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`)
  let sum = 0
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue
    if (wanted.every((label) => line.includes(label))) sum += Number(line.slice(line.lastIndexOf(' ')))
  }
  return sum
}
