/** The relay's threads: what their deaths cost, what reaches them while they run, and what is left of them. */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import {
  Address,
  parseAddress,
  type Recovered,
  type RecoveryStore,
  type RoutingCodec,
} from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { SealedCodec } from '../../plugins/routing-codec/sealed/codec.ts'
import { EchoRig } from './support/echo-rig.ts'
import { oneRoute } from './support/one-route-codec.ts'
import { THREADS, total, WAYS } from './support/relay-ways.ts'

const ROUTED = { codecFor: oneRoute }

for (const way of THREADS) {
  describe(`a relay ${way.name}`, way.needs, () => {
    test('loses no packet when its threads are ended under load, again and again', async () => {
      await using rig = await EchoRig.open(way, ROUTED)
      const clients = await Promise.all(Array.from({ length: 4 }, () => rig.client()))
      const load = setInterval(() => {
        // No more on its way than the kernel keeps: what is lost then is lost by the relay.
        for (const client of clients) if (client.sent - client.received < 500) client.talk(3)
      }, 2)
      const { workers } = rig.relay
      for (let deaths = 1; deaths <= 5; deaths++) {
        await Promise.all(workers.map(({ thread }) => thread!.kill()))
        const moves = hasMore()
        await eventually(
          'they are replaced, and work',
          () => workers.every(({ thread }) => thread!.restarts === deaths) && clients.every(moves),
          10_000,
        )
      }
      clearInterval(load)
      for (const client of clients) await client.whole(20_000)
      assert.ok(clients.every(({ sent }) => sent > 100))
    })

    test('what a look-up finds reaches the thread that asked', async () => {
      let transceiver = new Address()
      const store: RecoveryStore = {
        remember: () => {},
        forget: () => {},
        recall: async () => ({ cluster: 1, transceiver, session: Buffer.alloc(8, 1) }),
      }
      await using rig = await EchoRig.open(way, { ...ROUTED, recovery: store })
      transceiver = rig.transceiver
      const client = await rig.client(false)
      client.talk(1)
      await eventually('it was found', () => rig.relay.recovery!.counters.hit === 1)
      client.talk(20)
      await eventually('all but the first came back', () => client.received === 20)
      assert.deepEqual(
        total(rig.relay, ({ counters }) => [counters.recoveries]),
        [1],
      )
    })

    test('nothing is left of it when it is closed: no thread, no descriptor', async () => {
      const left = (): number[] => [
        readdirSync('/proc/self/fd').length,
        readdirSync('/proc/self/task').length,
      ]
      // Once before, for what stays for good: koffi's memory and the module cache.
      for (let n = 0; n < 2; n++) {
        const before = left()
        const rig = await EchoRig.open(way, ROUTED)
        await (await rig.client()).whole()
        await rig[Symbol.asyncDispose]()
        if (n === 0) continue
        await eventually('all is as before', () => left().every((count, i) => count <= before[i]!))
      }
    })
  })
}

describe('a relay in a thread', THREADS[0]!.needs, () => {
  test('that stands still is replaced, and the third passes over what two stood still at', async () => {
    await using rig = await EchoRig.open(THREADS[0]!, ROUTED)
    const client = await rig.client()
    const other = await rig.client(false)
    other.check('stuck')
    client.talk(20)
    await client.whole(30_000)
    assert.equal(rig.relay.workers[0]!.thread!.restarts, 2)
    other.check()
    await eventually('the other is served too', () => other.answers === 1)
  })

  test('is not told what was found for the one before it', async () => {
    const asked: ((found: Recovered | undefined) => void)[] = []
    const store: RecoveryStore = {
      remember: () => {},
      forget: () => {},
      recall: () => new Promise((resolve) => asked.push(resolve)),
    }
    await using rig = await EchoRig.open(THREADS[0]!, { ...ROUTED, recovery: store })
    const { counters } = rig.relay.recovery!
    const thread = rig.relay.workers[0]!.thread!
    const known = await rig.client()
    const session = Buffer.alloc(8, 1)
    const elsewhere = parseAddress('127.0.0.1:9')!
    const over = (): number => counters.hit + counters.miss + counters.refused + counters.failed
    // A look-up is given up after a second, and a thread may take longer to start.
    for (let tries = 1; tries <= 10; tries++) {
      const { failed } = counters
      asked.length = 0
      const [one, other] = [await rig.client(false), await rig.client(false)]
      one.talk(1)
      await eventually('one is asked for', () => asked.length === 1)
      // By then the thread is through with what asked: its successor would ask again.
      known.talk(1)
      await known.whole()
      await thread.kill()
      await eventually('the thread is replaced', () => thread.restarts === tries, 10_000)
      other.talk(1)
      await eventually('the other is asked for', () => asked.length === 2, 10_000)
      asked[0]!({ cluster: 1, transceiver: elsewhere, session })
      await eventually('the first look-up is over', () => over() === 2 * tries - 1)
      asked[1]!({ cluster: 1, transceiver: rig.transceiver, session })
      await eventually('both are', () => over() === 2 * tries)
      if (counters.failed > failed) continue
      other.talk(20)
      await eventually('all but the first came back', () => other.received === 20)
      return
    }
    assert.fail('this machine did not replace a thread within a second, ten times')
  })

  test('hears of new keys while packets flow, and loses none', async () => {
    const OLD = { id: 1, key: '0'.repeat(32) }
    const NEW = { id: 2, key: '1'.repeat(32) }
    const codec = new SealedCodec([OLD])
    await using rig = await EchoRig.open(THREADS[0]!, { codecFor: () => codec })
    const ufrag = (by: RoutingCodec): string =>
      by.encode({ cluster: 1, address: rig.transceiver, session: Buffer.alloc(8, 3) }, 'ufrag')
    const client = await rig.client(false)
    client.check(ufrag(codec))
    await eventually('the old key is known', () => client.answers === 1)
    const late = await rig.client(false)
    const load = setInterval(() => client.talk(5), 1)
    codec.replace([NEW, OLD])
    await eventually('the new key is known', () => {
      late.check(ufrag(codec))
      return late.answers > 0
    })
    clearInterval(load)
    await client.whole()
    assert.ok(codec.counters.read().decoded[NEW.id]! > 0)
  })

  test('a codec that cannot be had in another thread has it in the event loop, and that is told', async () => {
    const local = (transceiver: Address): RoutingCodec => {
      const { encode, decode } = oneRoute(transceiver)
      return { encode, decode }
    }
    await using rig = await EchoRig.open(THREADS[0]!, { codecFor: local })
    assert.deepEqual(
      rig.relay.workers.map(({ thread }) => thread),
      [undefined],
    )
    await (await rig.client()).whole()
    assert.equal(rig.logs.filter(({ msg }) => /event loop/.test(String(msg))).length, 1)
  })
})

for (const way of WAYS) {
  test(`a flood does not keep a client from its transceiver ${way.name}`, way.needs, async () => {
    await using rig = await EchoRig.open(way, ROUTED)
    const client = await rig.client()
    const flood = await rig.client(false)
    const garbage = setInterval(() => flood.talk(40), 1)
    const load = setInterval(() => client.talk(1), 5)
    await eventually('a while has passed', () => client.sent >= 100, 10_000)
    client.check('call2')
    await eventually('its check is answered too', () => client.answers === 2)
    clearInterval(garbage)
    clearInterval(load)
    await client.whole()
  })
}

/** Whether a client has received more than when this was asked for. */
function hasMore(): (client: { readonly received: number }) => boolean {
  const before = new Map<object, number>()
  return (client) => {
    const { received } = client
    if (!before.has(client)) before.set(client, received)
    return received > before.get(client)!
  }
}
