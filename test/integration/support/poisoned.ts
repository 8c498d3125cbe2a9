/** A call behind two relays whose Redis says something false of the client, and what a test wants to know then. */

import assert from 'node:assert/strict'
import type { Address } from '../../../core/index.ts'
import { eventually } from '../../../core/testing/check.ts'
import type { TestEdge } from '../../peers/edge.ts'
import { metricIn } from '../../peers/metric-text.ts'
import type { RedisServer } from '../../peers/redis-server.ts'
import { type Rig, SECRET } from '../../unit/plugins/redis-recovery/rig.ts'
import type { Config } from './configs.ts'
import type { Duplex } from './duplex.ts'
import { counter } from './metrics.ts'
import { TwoRelays } from './two-relays.ts'

/** The plugin that relays share this Redis by. */
export function inRedis(redis: Pick<RedisServer, 'url'>): Config {
  return { use: './plugins/redis-recovery/index.ts', options: { url: redis.url, secret: SECRET } }
}

/** Waits until an edge says that it is connected to Redis. */
export function connectedToRedis({ edge }: TestEdge): Promise<void> {
  return eventually(
    'redis is connected',
    async () => {
      const { body } = await edge.admin.inject({ method: 'GET', url: '/metrics' })
      return metricIn(body, 'earshot_redis_recovery_connected') === 1
    },
    10_000,
  )
}

/** A call that is up by way of relay a, both relays being connected to this Redis. */
export async function callWithRedis(redis: Pick<RedisServer, 'url'>): Promise<TwoRelays> {
  const call = await TwoRelays.open({ recovery: inRedis(redis) })
  try {
    await connectedToRedis(call.a)
    await connectedToRedis(call.b)
    return call
  } catch (error) {
    await call[Symbol.asyncDispose]()
    throw error
  }
}

/** Makes Redis say that the call's client is at `transceiver`, and moves it to relay b while its checks are held. */
export async function poison(call: TwoRelays, { store }: Rig, transceiver: Address): Promise<void> {
  const { hop, b } = call
  hop.holdsChecks = true
  const [client] = await hop.mapped()
  store.remember(hop.address, client!, { cluster: 1, transceiver, session: Buffer.alloc(8, 9) })
  await eventually('the entry is in Redis', async () => {
    const found = await store.recall(hop.address, client!, AbortSignal.timeout(2000))
    return found?.transceiver.equals(transceiver) ?? false
  })
  call.rehash(b)
}

/** Why a transceiver dropped media: nobody's, or not authentic. */
export function unclaimed(transceiver: TestEdge): Promise<number> {
  return counter(transceiver, 'transceiver_drops', { reason: 'unclaimed_media' })
}

/** Lets the client check: its own transceiver has it at once, and from then on nothing is lost. */
export async function assertPutRight({ hop, b }: TwoRelays, talk: Duplex): Promise<void> {
  hop.holdsChecks = false
  await talk.exchange(10)
  assert.equal((await b.flows()).confirmed >= 1, true)
  const drops = await counter(b, 'relay_drops', { reason: 'no_route' })
  await talk.exchange(20)
  assert.equal(await counter(b, 'relay_drops', { reason: 'no_route' }), drops)
}
