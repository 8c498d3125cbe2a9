import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prometheusName } from '../../../core/prometheus-text.ts'
import { createTelemetry } from '../../../core/telemetry.ts'
import { eventually } from '../../../core/testing/check.ts'
import { wallTime } from '../../../core/wall-clock.ts'

function sampleOf(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(name) && / [\d.e+-]+$/.test(one))
  assert.ok(line, `${name} is there`)
  return Number(line.split(' ').at(-1))
}

test('the loop that was held up says so', async () => {
  const telemetry = createTelemetry({ version: '1', env: {} })
  // Again if need be: what is held up before the measuring has begun is not seen.
  await eventually('the delay is seen', async () => {
    const until = performance.now() + 300
    while (performance.now() < until);
    await new Promise((resolve) => setImmediate(resolve))
    return sampleOf(await telemetry.metricsText(), 'nodejs_eventloop_delay_max_seconds') > 0.2
  })
  const text = await telemetry.metricsText()
  assert.ok(sampleOf(text, 'process_memory_usage_bytes') > 1e6)
  assert.ok(sampleOf(text, 'process_cpu_time_seconds_total') > 0)
  assert.ok(sampleOf(text, 'nodejs_eventloop_utilization') <= 1)
  await telemetry.close(100)
})

test('units are at the end of names in Prometheus’ text, once', () => {
  assert.equal(prometheusName('earshot.offer.duration', 's', false), 'earshot_offer_duration_seconds')
  assert.equal(prometheusName('earshot.relay.bytes', 'By', true), 'earshot_relay_bytes_total')
  assert.equal(prometheusName('earshot.relay.packets', '{packet}', true), 'earshot_relay_packets_total')
})

test('the time of day goes on as the monotonic clock does', () => {
  const now = performance.now()
  assert.ok(Math.abs(wallTime(now) - Date.now()) < 50)
  assert.ok(Math.abs(wallTime(now + 0.25) - wallTime(now) - 0.25) < 0.01)
})
