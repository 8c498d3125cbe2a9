import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Observed } from '../../../core/observed.ts'
import { createTelemetry } from '../../../core/telemetry.ts'

test('metrics are read when they are collected, and not any more once closed', async (t) => {
  const telemetry = createTelemetry({ version: '0', env: {} })
  t.after(() => telemetry.close(100))
  const ours = async (): Promise<string[]> =>
    (await telemetry.metricsText()).split('\n').filter((line) => line.startsWith('earshot_part_'))

  const part = { done: 1, open: 2, speed: 3 }
  let reads = 0
  const observed = new Observed(telemetry.meter('part'), 'earshot.part')
  observed.counter('done', '{thing}', 'Things done', (result) => {
    reads++
    result.observe(part.done, { kind: 'small' })
  })
  observed.upDownCounter('open', '{thing}', 'Things open', (result) => result.observe(part.open))
  observed.gauge('speed', 'm/s', 'How fast', (result) => result.observe(part.speed))
  assert.equal(reads, 0)
  part.done = 10
  const lines = await ours()
  assert.equal(reads, 1)
  for (const line of [/^earshot_part_done_total\{.*kind="small".*\} 10$/, /^earshot_part_open\b.* 2$/]) {
    assert.ok(
      lines.some((one) => line.test(one)),
      `${line} in ${lines.join('\n')}`,
    )
  }
  assert.match(lines.at(-1)!, /^earshot_part_speed.* 3$/)
  observed.close()
  await ours()
  assert.equal(reads, 1)
})
