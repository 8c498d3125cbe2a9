/**
 * What `/metrics` of a running edge shows after a call is what the READMEs of its plugins and docs/metrics.md list:
 * those names, and no others.
 */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { prometheusName } from '../../core/prometheus-text.ts'
import { eventually } from '../../core/testing/check.ts'
import { TestClient } from '../peers/client.ts'
import { ROOT, startEdge, type TestEdge } from '../peers/edge.ts'
import { Refused } from '../peers/signaling.ts'
import { edgeConfig } from './support/configs.ts'
import { talkUntil } from './support/talk.ts'

const OF_THE_PROCESS = join(ROOT, 'docs', 'metrics.md')
const readme = (plugin: string): string => join(ROOT, 'plugins', plugin, 'README.md')

const CONTROL_KEY = '0123456789abcdef0123456789abcdef'

/** Metrics that are there only once something has gone wrong, and what that is. */
const SELDOM = new Set(['earshot.faults'])

interface Listed {
  readonly name: string
  readonly unit: string
}

function listedIn(file: string): Listed[] {
  const rows = [...readFileSync(file, 'utf8').matchAll(/^\| `([a-z0-9_.]+)`\s*\| (\S+)\s*\|/gm)]
  return rows
    .map(([, name, unit]) => ({ name: name!, unit: unit! }))
    .filter(({ name }) => /^(earshot|nodejs|v8js|process)\./.test(name))
}

/** Names as the text has them, with their type. */
async function shown(edge: TestEdge): Promise<Map<string, string>> {
  const { body } = await edge.edge.admin.inject('/metrics')
  const types = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  const withSamples = types.filter(([, name]) => new RegExp(`^${name}(_bucket)?[{ ]`, 'm').test(body))
  return new Map(withSamples.map(([, name, type]) => [name!, type!]))
}

/** A call from beginning to end, in which everything happens that is counted. */
async function call(edge: TestEdge): Promise<void> {
  const client = await TestClient.connect(edge.post)
  await assert.rejects(edge.post('no offer'), Refused)
  await talkUntil(client, () => client.audio.length > 0)
  // The client's own report, so that there is a round trip to count.
  client.media!.sendRtcp(reportOn(await senderReport(client)))
  await eventually('the round trip is known', async () =>
    /"roundTripMs":[\d.]/.test(JSON.stringify(await edge.sessions())),
  )
  await edge.hangUp(client.url!)
  await client.close()
  await edge.untilIdle()
}

async function senderReport(client: TestClient): Promise<Buffer> {
  for (;;) {
    const compound = await client.rtcp.take()
    if (compound[1] === 200) return compound
  }
}

/** A receiver report (RFC 3550 §6.4.2) on what the sender report's sender sent. */
function reportOn(sent: Buffer): Buffer {
  const report = Buffer.alloc(32)
  report.set([0x81, 201, 0, 7])
  report.writeUInt32BE(0x01020304, 4)
  sent.copy(report, 8, 4, 8)
  report.writeUInt32BE(48, 20)
  // The middle of its NTP time (§4), and no delay since.
  sent.copy(report, 24, 10, 14)
  return report
}

describe('/metrics after a call', () => {
  it('is what the READMEs and docs/metrics.md list, by name, unit and kind', async () => {
    await using edge = await startEdge({
      config: edgeConfig({ transceiver: { control: { keys: [CONTROL_KEY] } } }),
    })
    await call(edge)
    const plugins = ['relay', 'transceiver', 'memory-recovery', 'routing-codec/sealed']
    const listed = [OF_THE_PROCESS, ...plugins.map(readme)].flatMap(listedIn)
    const metrics = await shown(edge)
    const expected = listed
      .filter(({ name }) => !SELDOM.has(name))
      .map(({ name, unit }) => toText(name, unit))
    const found = [...metrics.keys()].filter((name) => /^(earshot|nodejs|v8js|process)_/.test(name))
    assert.deepEqual(found.map((name) => name.replace(/_total$/, '')).sort(), expected.sort())
    const { body } = await edge.edge.admin.inject('/metrics')
    for (const { name, unit } of listed) {
      if (SELDOM.has(name)) continue
      assert.match(body, new RegExp(`^# UNIT ${toText(name, unit)}(_total)? ${escaped(unit)}$`, 'm'))
    }
    for (const [name, type] of metrics) assert.equal(name.endsWith('_total'), type === 'counter', name)
  })
})

const escaped = (text: string): string => text.replaceAll(/[{}]/g, '\\$&')

const toText = (name: string, unit: string): string => prometheusName(name, unit, false)
