/** ICE restarts by way of a global relay: each relay leads the new ufrag to where the old one led, and nothing is lost. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { opensslProblem } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { TestClient } from '../peers/client.ts'
import { loopback } from '../peers/client-options.ts'
import type { TestEdge } from '../peers/edge.ts'
import { randomCredentials } from '../peers/offer.ts'
import type { Post } from '../peers/signaling.ts'
import { Duplex } from './support/duplex.ts'
import { startAll } from './support/global-relay.ts'
import { counter } from './support/metrics.ts'
import { TALKING } from './support/two-relays.ts'

const needs = { skip: opensslProblem()?.message ?? false }
const SETTLED = 20

/** Starts a call by WHIP, whose sessions can be restarted. */
function whip({ edge }: TestEdge): Post {
  return async (offer) => {
    const headers = { 'content-type': 'application/sdp' }
    const made = await edge.http.inject({ method: 'POST', url: '/whip', payload: offer, headers })
    assert.equal(made.statusCode, 201, made.body)
    return { sdp: made.body, url: String(made.headers.location) }
  }
}

/** Both sides have new credentials; the client's checks name them, and nothing else, from now on (RFC 9725 §4.3.2). */
async function restart({ edge }: TestEdge, client: TestClient): Promise<void> {
  const own = randomCredentials()
  const { statusCode, body } = await edge.http.inject({
    method: 'PATCH',
    url: client.url!,
    headers: { 'content-type': 'application/trickle-ice-sdpfrag', 'if-match': '*' },
    payload: `a=ice-ufrag:${own.ufrag}\r\na=ice-pwd:${own.pwd}\r\n`,
  })
  assert.equal(statusCode, 200, body)
  const ufrag = /^a=ice-ufrag:(\S+)\r$/m.exec(body)![1]!
  const pwd = /^a=ice-pwd:(\S+)\r$/m.exec(body)![1]!
  assert.notEqual(ufrag, client.answer!.ufrag)
  client.transport.start(own, { ...client.answer!, ufrag, pwd })
}

/** The server has answered checks by the credentials that are in use now. */
function answered({ transport }: TestClient): Promise<void> {
  return eventually('the new credentials are taken', () => transport.checks!.counters.answered >= 3)
}

async function confirmed(edge: TestEdge): Promise<string[]> {
  return (await edge.flows()).flows.map(({ client, routes }) => `${client} ${routes.map((r) => r.state)}`)
}

async function decodes({ edge }: TestEdge): Promise<number> {
  const { body } = await edge.admin.inject({ method: 'GET', url: '/metrics' })
  return Number(/^earshot_relay_decodes_total\{.*\} (\d+)/m.exec(body)?.[1])
}

test('on the same 5-tuple, again and again: not a packet is lost', needs, async () => {
  await using world = await startAll({ bridge: TALKING })
  const { two, global, via } = world
  await using client = await TestClient.connect(whip(two), { via, checkEveryMs: 100 })
  using talk = await Duplex.begin(client, two)
  for (let restarts = 1; restarts <= 3; restarts++) {
    await restart(two, client)
    await answered(client)
    await talk.exchange(SETTLED)
    for (const relay of [global, two]) {
      assert.equal(await decodes(relay), 1 + restarts, 'each relay has read each ufrag')
      assert.deepEqual(await confirmed(relay), [`${client.local} live`])
    }
  }
  const { up, down } = await talk.finish()
  assert.deepEqual([up.lost, down.lost], [0, 0])
})

test('on a new port: the call goes on from there, by another previous hop or not', needs, async () => {
  await using world = await startAll({ bridge: TALKING })
  const { two, global, via } = world
  await using client = await TestClient.connect(whip(two), { via, checkEveryMs: 100 })
  using talk = await Duplex.begin(client, two)
  const ports = [`${client.local} live`]
  for (let restarts = 1; restarts <= 3; restarts++) {
    await client.socket.rebind(loopback())
    await restart(two, client)
    await answered(client)
    await talk.exchange(SETTLED)
    ports.push(`${client.local} live`)
    for (const relay of [global, two]) assert.deepEqual((await confirmed(relay)).sort(), [...ports].sort())
  }
  const unknown = async (): Promise<number> => {
    const counts = [global, two].map((relay) => counter(relay, 'relay_drops', { reason: 'no_route' }))
    return (await Promise.all(counts)).reduce((sum, count) => sum + count)
  }
  const before = await unknown()
  await talk.exchange(SETTLED)
  const { up } = await talk.finish()
  assert.equal(await unknown(), before, 'nothing is lost once the new credentials are taken')
  assert.equal(up.lost, before, 'what is lost came before the first check from a port')
})
