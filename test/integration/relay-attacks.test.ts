/** What is tried on a relay from outside, in every way that it can work: each attack, its counter, and the call beside it. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { DROP_REASONS } from '../../plugins/relay/pure/drop-reasons.ts'
import { Stage } from './support/attack-stage.ts'
import { ON_BYTES } from './support/attacks-by-bytes.ts'
import { ON_ROUTES } from './support/attacks-by-ufrag.ts'
import { ON_FLOWS } from './support/attacks-on-flows.ts'
import { WAYS } from './support/relay-ways.ts'

for (const way of WAYS)
  describe(`attacks on a relay ${way.name}`, way.needs, () => {
    let stage: Stage
    before(async () => {
      stage = await Stage.open(way)
    })
    after(() => stage.close())

    for (const { name, drops, run } of [...ON_FLOWS, ...ON_ROUTES, ...ON_BYTES])
      test(name, async () => {
        const earlier = stage.drops()
        const since = (): Record<string, number> =>
          Object.fromEntries(
            DROP_REASONS.map((reason) => [reason, stage.drops().get(reason)! - earlier.get(reason)!]).filter(
              ([, count]) => count !== 0,
            ),
          )
        const all = Object.values(drops).reduce((sum, count) => sum + count, 0)
        await run(stage)
        await eventually('all is counted', () => Object.values(since()).reduce((a, b) => a + b, 0) >= all)
        await stage.assertBystander()
        assert.deepEqual(since(), drops)
        for (const { frames } of stage.transceivers) frames.length = 0
      })

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
