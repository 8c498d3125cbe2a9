/** Relays of several clusters in threads: what a thread's death costs there, and what reaches threads that run. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { plainFraming, SPP_LENGTH, type ThreadControl } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { COUNT } from '../../core/udp/loop-control.ts'
import type { Relay } from '../../plugins/relay/relay.ts'
import { freePort } from '../peers/free-port.ts'
import { bindingRequest } from '../stun-bytes.ts'
import { FramedPeer, SUCCESS } from './support/attack-stage.ts'
import type { EchoClient } from './support/echo-rig.ts'
import { GlobalRig, startCluster, startGlobal } from './support/global-rig.ts'
import { bound, THREADS, total, type Way } from './support/relay-ways.ts'
import { Stranger } from './support/stranger.ts'

const KEYS = [{ id: 9, key: '77'.repeat(32) }]
const DEATHS = 2
const PATIENCE_MS = 20_000
const [IN_A_THREAD, IN_TWO] = [THREADS[0]!, THREADS[1]!]

/** Ends the threads of a relay, and waits until others work in their places. */
async function kill({ workers }: Relay): Promise<void> {
  const before = workers.map(({ thread }) => thread!.restarts)
  await Promise.all(workers.map(({ thread }) => thread!.kill()))
  const isReplaced = (): boolean => workers.every(({ thread }, i) => thread!.restarts === before[i]! + 1)
  await eventually('they are replaced', isReplaced, PATIENCE_MS)
}

/** More than until now has come back to each. */
async function moves(clients: readonly EchoClient[]): Promise<void> {
  const before = clients.map(({ received }) => received)
  await eventually(
    'packets flow',
    () => clients.every(({ received }, i) => received > before[i]!),
    PATIENCE_MS,
  )
}

for (const way of THREADS) {
  for (const keys of way === IN_TWO ? [undefined, KEYS] : [undefined]) {
    const name = `${way.name}${keys ? ', with tags' : ''}`
    test(
      `no packet is lost when threads of either relay are ended under load, ${name}`,
      way.needs,
      async () => {
        await using rig = await GlobalRig.open({ way, ...(keys ? { keys } : {}) })
        const clients = await Promise.all(Array.from({ length: 6 }, () => rig.client()))
        const load = setInterval(() => {
          // No more on its way than the kernel keeps: what is lost then is lost by a relay.
          for (const client of clients) if (client.sent - client.received < 300) client.talk(3)
        }, 2)
        for (let deaths = 0; deaths < DEATHS; deaths++) {
          for (const relay of [rig.cluster, rig.global]) {
            await kill(relay)
            await moves(clients)
          }
        }
        clearInterval(load)
        for (const client of clients) await client.whole(PATIENCE_MS)
        const flows = [rig.global, rig.cluster].map((relay) => total(relay, (s) => [s.flows.confirmed]))
        assert.deepEqual(flows, [[clients.length], [clients.length]])
      },
    )
  }
}

describe('a thread that dies between relays', IN_A_THREAD.needs, () => {
  /** The same way, and what the main thread says to its threads. */
  function watched(way: Way): { way: Way; controls: ThreadControl[] } {
    const controls: ThreadControl[] = []
    const { threads } = way.udp
    const control = (): ThreadControl => {
      const made = threads!.control()
      controls.push(made)
      return made
    }
    return { way: { ...way, udp: { ...way.udp, threads: { ...threads!, control } } }, controls }
  }

  test('has written headers anew, and whoever finishes its batch reads them as they came', async (t) => {
    const { way, controls } = watched(IN_A_THREAD)
    const transceiver = await FramedPeer.open()
    const before = await FramedPeer.open()
    const relay = await startCluster({ way }, transceiver.local)
    t.after(() => Promise.all([relay.close(), transceiver.close(), before.close()]))
    const [client, proxy] = [transceiver.local.clone(), before.local.clone()]
    client.port = proxy.port = 4_000
    const send = (payload: Buffer): Buffer => {
      const frame = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
      plainFraming.write(frame, SPP_LENGTH, frame.length, client, proxy)
      before.sayBare(relay.internal, frame)
      return payload
    }
    const { words } = controls[0]!
    /** It has dealt with what there was, and looked into every socket. */
    const isThrough = async (): Promise<void> => {
      const { beat } = words
      await eventually('it waits', () => words.beat - beat > 1)
    }
    /** As if it had died before it was through with the batch that it took last. */
    const die = async (): Promise<void> => {
      await isThrough()
      words.words[COUNT] = 1
      await kill(relay)
      await isThrough()
    }
    await isThrough()
    const checked = await transceiver.got(send(bindingRequest('call1:client')))
    await die()
    assert.deepEqual(await transceiver.got(checked.payload), checked, 'the same once more, up')
    transceiver.say(checked, SUCCESS)
    const answered = await before.got(SUCCESS)
    await die()
    assert.deepEqual(await before.got(SUCCESS), answered, 'the same once more, down')
    assert.ok(answered.client.equals(client) && answered.proxy.equals(proxy))
    const media = Buffer.alloc(60, 0x80)
    const heard = await transceiver.got(send(media))
    await die()
    assert.deepEqual(await transceiver.got(media), heard)
    const { state } = relay.workers[0]!
    assert.deepEqual([state.hops.taken, state.flows.confirmed], [1, 1])
  })
})

describe('the name of a cluster’s relay', IN_TWO.needs, () => {
  test('leads elsewhere from now on: every thread hears of it, and one that is replaced knows it', async (t) => {
    const port = await freePort()
    const [old, young] = [await FramedPeer.open('127.0.0.2', port), await FramedPeer.open('127.0.0.3', port)]
    let host: string | undefined
    const resolve = async (): Promise<string[]> => (host ? [host] : Promise.reject(new Error('ENOTFOUND')))
    const relay = await startGlobal({ way: IN_TWO }, `relay.one.internal:${port}`, { resolve, againMs: 20 })
    const clients: Stranger[] = []
    let calls = 'call'
    t.after(async () => {
      for (const one of [...clients, old, young, relay]) await one.close()
    })
    const flows = (): number[] => relay.workers.map(({ state }) => state.flows.unconfirmed)
    const check = (client: number): Buffer => {
      const request = bindingRequest(`${calls}${client >> 3}:${client}`)
      clients[client]!.send(request)
      return request
    }
    /** Every client's check comes to that relay, sooner or later. */
    const allReach = async (peer: FramedPeer): Promise<void> => {
      for (const client of clients.keys()) {
        await eventually('its check gets there', () => peer.has(check(client)), PATIENCE_MS)
      }
    }
    const addClient = async (): Promise<void> => {
      clients.push(await Stranger.open(bound(relay, 0).local))
    }

    await addClient()
    check(0)
    await eventually('it leads nowhere yet', () => {
      const [count] = total(relay, ({ counters }) => [counters.drops.of('cluster_unreachable')])
      return count! > 0
    })
    host = '127.0.0.2'
    do {
      await addClient()
      await allReach(old)
    } while (flows().some((count) => count === 0))
    host = '127.0.0.3'
    await allReach(young)
    await kill(relay)
    old.frames.length = young.frames.length = 0
    calls = 'another'
    await allReach(young)
    assert.equal(old.frames.length, 0)
  })
})
