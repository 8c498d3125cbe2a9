/** What is tried on a relay from outside, in every way that it can work: each attack, its counter, and the call beside it. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { DROP_REASONS } from '../../plugins/relay/pure/drop-reasons.ts'
import type { Attack } from './support/attack.ts'
import { Stage } from './support/attack-stage.ts'
import { BETWEEN_RELAYS, RELAYS } from './support/attacks-between-relays.ts'
import { ON_BYTES } from './support/attacks-by-bytes.ts'
import { ON_ROUTES } from './support/attacks-by-ufrag.ts'
import { ON_FLOWS } from './support/attacks-on-flows.ts'
import { WAYS } from './support/relay-ways.ts'

/** Registers tests: each attack, on one relay after the other. */
function tryAll(attacks: readonly Attack[], open: () => Promise<Stage>): void {
  let stage: Stage
  before(async () => {
    stage = await open()
  })
  after(() => stage?.close())
  for (const { name, drops, run } of attacks)
    test(name, async () => {
      const earlier = stage.drops()
      const since = (): Record<string, number> => {
        const now = stage.drops()
        const counts = DROP_REASONS.map(
          (reason) => [reason, now.get(reason)! - earlier.get(reason)!] as const,
        )
        return Object.fromEntries(counts.filter(([, count]) => count !== 0))
      }
      const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((a, b) => a + b, 0)
      await run(stage)
      await eventually('all is counted', () => sum(since()) >= sum(drops), 5_000)
      await stage.assertBystander()
      assert.deepEqual(since(), drops)
      for (const { frames } of stage.transceivers) frames.length = 0
    })
}

for (const way of WAYS) {
  describe(`attacks on a relay ${way.name}`, way.needs, () => {
    tryAll([...ON_FLOWS, ...ON_ROUTES, ...ON_BYTES], () => Stage.open(way))

    test('a mapped IPv4 address (relay 20): is its IPv4 one on a socket for both families', async (t) => {
      const mapped = await Stage.open(way, { upstream: '[::]:0' }).catch(() => undefined)
      if (!mapped) return t.skip('this machine has no IPv6')
      t.after(() => mapped.close())
      const [one] = mapped.transceivers
      const client = await mapped.client()
      const frame = await mapped.connect(client, one, mapped.ufrag(one.local))
      assert.deepEqual(String(frame.client), String(client.local))
      await mapped.talk(client, one)
      client.send(mapped.check(mapped.ufrag(mapped.front)))
      client.send(mapped.check(mapped.ufrag(frame.via)))
      await eventually('both are refused', () => mapped.drops().get('own_address') === 2)
    })
  })

  describe(`attacks on a relay ${way.name} that hears other relays`, way.needs, () => {
    tryAll(BETWEEN_RELAYS, () => Stage.open(way, { relays: RELAYS }))
  })
}
