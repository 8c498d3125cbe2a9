import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import type { Recovered, RecoveryStore } from '../../../../core/index.ts'
import { eventually } from '../../../../core/testing/check.ts'
import { LocalLookUps } from '../../../../plugins/relay/local-look-ups.ts'
import { FAILED_MS, FRUITLESS_MS, LOOK_UP_MS } from '../../../../plugins/relay/pure/limits.ts'
import { Recovery } from '../../../../plugins/relay/recovery.ts'
import { at, CLIENT, LOCALS, MEDIA, SimulatedRelay, SUCCESS, T1, T2 } from './simulated-relay.ts'

const FOUND: Recovered = { cluster: 1, transceiver: at(T1), session: Buffer.from('session1') }

type Recall = RecoveryStore['recall']

const ending = new Set<AbortController>()
afterEach(() => {
  for (const controller of ending) controller.abort()
  ending.clear()
})

function setUp(recall: Recall) {
  const relay = new SimulatedRelay()
  relay.issue('call1', T1)
  relay.issue('call2', T2)
  const remembered: string[] = []
  const asked: string[] = []
  const spans: number[] = []
  const store: RecoveryStore = {
    remember: (advertised, client, value) => remembered.push(`${advertised} ${client} ${value.transceiver}`),
    forget: () => assert.fail('another relay may hold this client by now'),
    recall(advertised, client, signal) {
      asked.push(`${advertised} ${client}`)
      return recall(advertised, client, signal)
    },
  }
  const controller = new AbortController()
  ending.add(controller)
  const recovery = new Recovery({
    store,
    node: { cluster: 1 },
    signal: controller.signal,
    onRecovered: (_path, tookMs) => spans.push(tookMs),
  })
  const lookUps = new LocalLookUps(relay.state, recovery, 1)
  return { relay, recovery, lookUps, remembered, asked, spans, controller }
}

describe('an unknown client', () => {
  test('is asked about once, and what comes back carries it', async () => {
    const { relay, recovery, asked, spans, lookUps } = setUp(async () => FOUND)
    relay.now = performance.now()
    const client = at(CLIENT)
    for (let i = 0; i < 5; i++) lookUps.ask(relay.now, 0, client)
    client.set(0, 0, 0, 0, 0)
    await eventually('the look-up has ended', () => recovery.counters.hit === 1)
    assert.deepEqual(asked, [`${LOCALS[0]} ${CLIENT}`])
    relay.now = performance.now()
    assert.deepEqual(relay.up(MEDIA), [T1])
    assert.equal(spans.length, 1)
  })
  for (const [what, recall, result] of [
    ['that the store does not know', async () => undefined, 'miss'],
    ['when the store is down', () => Promise.reject(new Error('down')), 'failed'],
    [
      'when the store throws',
      () => {
        throw new Error('broken')
      },
      'failed',
    ],
    ['when the store answers nonsense', async () => JSON.parse('{"cluster":1}'), 'failed'],
    ['when the store answers half of it', async () => ({ ...FOUND, session: JSON.parse('null') }), 'failed'],
    [
      'with a route that is not allowed',
      async () => ({ ...FOUND, transceiver: at('192.0.2.1:80') }),
      'refused',
    ],
    ['with a route of another cluster', async () => ({ ...FOUND, cluster: 2 }), 'refused'],
  ] satisfies [string, Recall, keyof Recovery['counters']][]) {
    test(`${what}: nothing comes of it, and it is not repeated at once`, async () => {
      const { recovery, relay, asked, lookUps } = setUp(recall)
      lookUps.ask(performance.now(), 0, at(CLIENT))
      await eventually('the look-up has ended', () => recovery.counters[result] === 1)
      lookUps.ask(performance.now(), 0, at(CLIENT))
      assert.equal(asked.length, 1)
      assert.equal(relay.state.flows.unconfirmed, 0)
    })
  }
  test('when the store stays silent, whatever its signal says: given up, and the answer that comes late is not used', async () => {
    let answer: (found: Recovered) => void = () => {}
    const silence = new Promise<Recovered>((resolve) => {
      answer = resolve
    })
    const { recovery, relay, lookUps } = setUp(() => silence)
    const start = performance.now()
    // Within this test the timer of AbortSignal.timeout, which holds no process open, would be all there is.
    const open = setInterval(() => {}, 1_000)
    lookUps.ask(start, 0, at(CLIENT))
    await eventually('the look-up has ended', () => recovery.counters.failed === 1)
    clearInterval(open)
    assert.ok(performance.now() - start >= LOOK_UP_MS - 1)
    answer(FOUND)
    await silence
    assert.equal(relay.state.flows.unconfirmed, 0)
  })
  for (const [what, recall, pauseMs] of [
    ['that the store does not know', async () => undefined, FRUITLESS_MS],
    ['of whom it did not answer', () => Promise.reject(new Error('away')), FAILED_MS],
  ] satisfies [string, Recall, number][]) {
    test(`${what} is asked about again after ${pauseMs} ms`, async () => {
      const { recovery, asked, lookUps } = setUp(recall)
      lookUps.ask(performance.now(), 0, at(CLIENT))
      const { counters } = recovery
      await eventually('the look-up has ended', () => counters.miss + counters.failed === 1)
      const ended = performance.now()
      lookUps.ask(ended + pauseMs - 50, 0, at(CLIENT))
      assert.equal(asked.length, 1)
      lookUps.ask(ended + pauseMs, 0, at(CLIENT))
      assert.equal(asked.length, 2)
    })
  }
  test('is let go when the relay closes', async () => {
    const { recovery, controller, lookUps } = setUp(() => new Promise(() => {}))
    lookUps.ask(performance.now(), 0, at(CLIENT))
    controller.abort()
    await eventually('the look-up has ended', () => recovery.counters.failed === 1)
  })
})

describe('what the store is told', () => {
  function remember({ relay, recovery }: ReturnType<typeof setUp>): void {
    if (relay.decision.event)
      recovery.remember(relay.state.hops.placeOf(relay.decision.local), relay.decision)
  }
  test('a call at its first success, and then again every few seconds', () => {
    const all = setUp(async () => undefined)
    all.relay.check('call1')
    for (let i = 0; i < 60; i++) {
      all.relay.down(T1, SUCCESS)
      remember(all)
      all.relay.now += 250
    }
    assert.deepEqual(
      all.remembered,
      Array.from({ length: 3 }, () => `${LOCALS[0]} ${CLIENT} ${T1}`),
    )
  })
  test('never the session of somebody who spoofs the address of a call', () => {
    const all = setUp(async () => undefined)
    for (let i = 0; i < 100; i++) {
      if (i % 10 === 0) {
        all.relay.connect('call1', T1)
        remember(all)
      }
      all.relay.connect('call2', T2)
      remember(all)
      all.relay.now += 250
    }
    assert.deepEqual([...new Set(all.remembered)], [`${LOCALS[0]} ${CLIENT} ${T1}`])
    assert.ok(all.remembered.length >= 4)
  })
})
