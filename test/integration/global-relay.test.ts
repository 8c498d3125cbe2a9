/**
 * Two clusters and a global relay on one machine: real calls through the global relay to both, and directly to each
 * cluster's own relay.
 */

import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Address, opensslProblem, parseAddress, plainFraming, SPP_LENGTH } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { defaultEngine } from '../../core/udp/engines.ts'
import { TestClient } from '../peers/client.ts'
import type { TestEdge } from '../peers/edge.ts'
import { bindingRequest } from '../stun-bytes.ts'
import { startAll } from './support/global-relay.ts'
import { counter } from './support/metrics.ts'

const needs = { skip: opensslProblem()?.message ?? false }
const MAC = { mac: { keys: [{ id: 9, key: '77'.repeat(32) }] } }

const hasThreads = defaultEngine().threads !== undefined

function threadsOf({ log }: TestEdge): unknown {
  return log.find(({ msg }) => msg === 'relay listens')?.threads
}

async function converse(client: TestClient, text: string): Promise<void> {
  client.sendEvent({ type: 'say', text })
  assert.deepEqual(await client.events.take(), { type: 'say', text })
  const payload = Buffer.from(`\xf8${text}`, 'latin1')
  client.sendAudio(payload)
  assert.deepEqual(Buffer.from((await client.audio.take()).payload), payload)
}

const dropped = (edge: TestEdge, reason: string): Promise<number> => counter(edge, 'relay_drops', { reason })

for (const [way, workers] of [
  ['in two threads', 2],
  ['in the event loop', 0],
] as const) {
  describe(`relays of several clusters ${way}`, needs, () => {
    for (const [name, framing] of [
      ['without tags', 'spp'],
      ['with tags', MAC],
    ] as const) {
      test(`calls through a global relay to two clusters, and directly, ${name}`, async () => {
        await using world = await startAll({ framing, workers })
        const { one, two, global, via } = world
        for (const relay of [one, two, global]) assert.equal(threadsOf(relay), hasThreads ? workers : 0)
        await using first = await TestClient.connect(one.post, { via })
        await using second = await TestClient.connect(two.post, { via })
        await using direct = await TestClient.connect(two.post)
        for (const [i, client] of [first, second, direct, second, first].entries())
          await converse(client, `${i}`)
        const flows = (await global.flows()).flows
        const leads = new Map(flows.map(({ client, routes }) => [client, routes.map((r) => r.transceiver)]))
        assert.deepEqual(leads.get(String(first.local)), [`127.0.0.1:${world.ports[0]}`])
        assert.deepEqual(leads.get(String(second.local)), [`127.0.0.1:${world.ports[1]}`])
        assert.equal(flows.length, 2)
        const passedOn = (await two.flows()).flows.filter(({ relay }) => relay !== undefined)
        assert.deepEqual(
          passedOn.map(({ client }) => client),
          [String(second.local)],
        )
        assert.match(String(passedOn[0]!.relay), /^127\.0\.0\.1:/)
        assert.deepEqual([(await one.flows()).confirmed, (await two.flows()).confirmed], [1, 2])
      })
    }

    test('a global relay that is restarted carries on', async () => {
      await using world = await startAll({ workers })
      const { two, via } = world
      await using client = await TestClient.connect(two.post, { via, checkEveryMs: 200 })
      await converse(client, 'before')
      await world.global.close()
      await using restarted = await world.restart()
      await eventually('the flow is back', async () => (await restarted.flows()).confirmed === 1)
      await converse(client, 'after')
    })

    test('a client that moves, and one that names another call from the same address', async () => {
      await using world = await startAll({ workers })
      const { one, two, via } = world
      await using client = await TestClient.connect(two.post, { via, checkEveryMs: 200 })
      await converse(client, 'here')
      await client.rebind()
      await converse(client, 'there')
      await using other = await TestClient.connect(one.post, { via })
      await converse(other, 'elsewhere')
    })

    test('framed packets for another cluster, or from strangers, go nowhere', async (t) => {
      await using world = await startAll({ workers })
      const { one, two, global, via } = world
      await using client = await TestClient.connect(two.post, { via })
      const frame = (payload: Buffer): Buffer => {
        const bytes = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
        plainFraming.write(bytes, SPP_LENGTH, bytes.length, parseAddress('198.51.100.7:4000')!, new Address())
        return bytes
      }
      const socket = createSocket('udp4').bind(0, '127.0.0.1')
      const stranger = createSocket('udp4').bind(0, '127.0.0.2')
      for (const one of [socket, stranger]) t.after(() => one.close())
      await Promise.all([once(socket, 'listening'), once(stranger, 'listening')])
      const foreign = frame(bindingRequest(`${client.answer!.ufrag}:x`))
      for (const [from, port, edge, reason] of [
        [socket, world.ports[0], one, 'foreign_from_relay'],
        [stranger, world.ports[1], two, 'untrusted_relay'],
        [socket, via.port, global, 'framing'],
      ] as const) {
        from.send(foreign, port, '127.0.0.1')
        await eventually(`it is dropped as ${reason}`, async () => (await dropped(edge, reason)) === 1)
      }
      assert.equal((await one.flows()).flows.length, 0)
      await converse(client, 'unharmed')
    })
  })
}
