/** 200,000 bad datagrams into each port during a call: nothing is thrown, nothing grows, the call does not notice. */

import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { Prng } from '../../core/testing/prng.ts'
import { startEchoBackend } from '../examples/echo-backend.ts'
import { HostileClient } from '../fuzz/hostile-client.ts'
import { LiveCall, memoryInUse } from '../fuzz/live-call.ts'
import { storm } from '../fuzz/storm.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { type Config, edgeConfig } from './support/configs.ts'
import { assertEvents, assertWhole, Conversation } from './support/conversation.ts'
import { WatchedEngine } from './support/watched-engine.ts'

const COUNT = 200_000
const NONSENSE = 40_000
const WARM_UP = 5_000
const SEED = 20_260_101
const MEGABYTE = 1_048_576

const faults: unknown[] = []
const catchFault = (fault: unknown): void => void faults.push(fault)

async function assertCalm(edge: TestEdge, calls: number): Promise<void> {
  const { confirmed, unconfirmed } = await edge.flows()
  assert.ok(confirmed + unconfirmed <= 64, `${confirmed} + ${unconfirmed} flows`)
  const { total, bound } = await edge.sessions()
  assert.equal(total, calls)
  assert.ok(
    JSON.stringify(bound)
      .match(/\d+/g)!
      .every((n) => Number(n) <= 16),
    JSON.stringify(bound),
  )
  assert.deepEqual(
    edge.log.filter(({ level }) => level >= 50),
    [],
  )
  assert.deepEqual(faults, [])
}

async function endure(t: TestContext, call: LiveCall, name: keyof LiveCall['ports']): Promise<void> {
  const port = call.ports[name]
  const entrances = call.entrances.filter((entrance) => entrance.port === port)
  await storm(entrances, WARM_UP, SEED)
  const memory = memoryInUse()
  using talk = new Conversation(call.client)
  const startedAt = performance.now()
  const { sent, unread } = await storm(entrances, COUNT, SEED + 1)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const account = await talk.finish()
  const grown = (memoryInUse() - memory) / MEGABYTE
  t.diagnostic(`${sent} datagrams from ${entrances.map((one) => one.name).join('; ')}`)
  t.diagnostic(`${seconds} s, ${unread} not read, memory ${grown.toFixed(1)} MB more`)
  t.diagnostic(
    `the call meanwhile: ${account.sent} packets, ${account.lost} lost, ${account.eventsHeard.length} events`,
  )
  assertWhole(account)
  assert.ok(account.sent > 50)
  assert.ok(unread < COUNT / 100)
  assert.ok(grown < 16, `${grown} MB more than before`)
  assert.equal(call.receiveErrors, 0)
  await assertCalm(call.edge, 1)
}

before(() => process.on('uncaughtException', catchFault).on('unhandledRejection', catchFault))

after(() => {
  process.off('uncaughtException', catchFault).off('unhandledRejection', catchFault)
  assert.deepEqual(faults, [])
})

describe('bad datagrams during a call', () => {
  let call: LiveCall

  before(async () => {
    call = await LiveCall.start()
    assertWhole(await call.talk.finish())
  })

  after(() => call?.[Symbol.asyncDispose]())

  it('into the relay’s public port', (t) => endure(t, call, 'public'))
  it('into the relay’s port towards the transceiver', (t) => endure(t, call, 'upstream'))
  it('into the transceiver’s port', (t) => endure(t, call, 'transceiver'))
})

describe('a caller who sends well-secured nonsense, beside another’s call', () => {
  /** Runs the nonsense in an edge; `same` says whether the bridge gives packets back untouched. */
  async function bear(t: TestContext, bridge: Config | undefined, same: boolean): Promise<void> {
    const udp = new WatchedEngine()
    await using edge = await startEdge({ udp, config: edgeConfig(bridge ? { bridge } : {}) })
    await using client = await TestClient.connect(edge.post)
    await using hostile = await HostileClient.open(edge.post, new Prng(SEED))
    const entrances = hostile.entrances(udp.ports[0]!)
    await storm(entrances, 2000, SEED)
    const memory = memoryInUse()
    using talk = new Conversation(client)
    const { sent, unread } = await storm(entrances, NONSENSE, SEED + 1)
    await hostile.sendTexts(2000)
    await talk.exchange(same ? 25 : 0)
    const account = await talk.finish(same)
    const grown = (memoryInUse() - memory) / MEGABYTE
    t.diagnostic(`${sent} packets, ${unread} not read; ${hostile.calls} calls of the hostile caller`)
    t.diagnostic(
      `memory ${grown.toFixed(1)} MB more; the other call: ${account.sent} packets, ${account.lost} lost`,
    )
    if (same) assertWhole(account)
    assertEvents(account)
    assert.ok(client.audio.total > account.sent / 2)
    assert.ok(grown < 16, `${grown} MB more than before`)
    assert.ok(udp.ports.every(({ counters }) => counters.receiveErrors === 0))
    await hostile[Symbol.asyncDispose]()
    await eventually('only one call is left', async () => (await edge.sessions()).total === 1)
    await assertCalm(edge, 1)
  }

  it('that goes to the loopback bridge', (t) => bear(t, undefined, true))

  it('that is decoded for the websocket bridge', async (t) => {
    const backend = await startEchoBackend()
    const use = './plugins/inference-bridge/websocket/index.ts'
    await bear(t, { use, options: { url: backend.url } }, false)
    await backend.close()
  })
})
