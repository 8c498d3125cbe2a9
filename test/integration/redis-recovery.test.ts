/** Processes with Redis beside them: what happens to Redis happens to recovery alone, not to calls, health or the end. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { skipWithout } from '../needs.ts'
import { TestClient } from '../peers/client.ts'
import { advertising, type EdgeProcess, sharedSecrets, startRole } from '../peers/edge-processes.ts'
import { RedisServer } from '../peers/redis-server.ts'
import { postTo } from '../peers/signaling.ts'
import { Conversation } from './support/conversation.ts'

/** Statuses of `/livez` and `/readyz`. */
async function health({ url }: EdgeProcess): Promise<string> {
  const statuses = ['livez', 'readyz'].map(async (path) => (await fetch(`${url}${path}`)).status)
  return (await Promise.all(statuses)).join(' ')
}

/** Asks for the health all the time until `stop`; resolves with what it was, each answer once. */
function watchHealth(edge: EdgeProcess): { stop(): Promise<string[]> } {
  const seen = new Set<string>()
  const stopping = new AbortController()
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      seen.add(await health(edge))
      await delay(20)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await watching
      return [...seen]
    },
  }
}

/** What the log says of Redis at `warn` and above. */
const warnings = ({ log }: EdgeProcess): string[] =>
  log.filter(({ level, plugin }) => plugin === 'recovery' && level !== 'info').map(({ msg }) => msg)

describe('a relay without its Redis', () => {
  it('starts, is ready, and carries a call from which nothing is lost', async () => {
    const secrets = sharedSecrets()
    // Nobody is at this address: a start that waited for Redis would never be ready.
    await using relay = await startRole('relay', { ...secrets, EARSHOT_REDIS_URL: 'redis://127.0.0.1:1' })
    await using transceiver = await startRole('transceiver', { ...secrets, ...advertising(relay) })
    const watch = watchHealth(relay)
    await using client = await TestClient.connect(postTo(transceiver.url))
    using talk = new Conversation(client)
    await talk.exchange(50)
    const { sent, lost } = await talk.finish()
    assert.equal(lost, 0, `of ${sent}`)
    assert.deepEqual(await watch.stop(), ['200 200'])
    assert.equal(await relay.metric('redis_recovery_connected'), 0)
    assert.equal(await relay.metric('relay_drops_total'), 0)
    assert.equal(warnings(relay).length, 1, 'it is told once')
    assert.equal(await relay.stop(), 0)
    assert.deepEqual(relay.printed, [], 'nothing goes past the log')
  })
})

describe('relay 37: an outage of Redis', { skip: skipWithout('redis') }, () => {
  for (const [what, strike] of [
    ['that refuses connections', (redis: RedisServer) => redis.kill()],
    ['that hangs', async (redis: RedisServer) => redis.freeze()],
  ] as const) {
    it(`${what} is no outage of ours: alive and ready, calls go on and begin, and a drain ends in time`, async () => {
      const secrets = sharedSecrets()
      await using redis = await RedisServer.start()
      const env = { ...secrets, EARSHOT_REDIS_URL: redis.url, EARSHOT_DRAIN_SECONDS: '1' }
      await using relay = await startRole('relay', env)
      await using transceiver = await startRole('transceiver', { ...secrets, ...advertising(relay) })
      await relay.logged('redis is connected')
      const watch = watchHealth(relay)
      await using before = await TestClient.connect(postTo(transceiver.url))
      using talk = new Conversation(before)
      await talk.exchange(25)
      assert.ok(Number(await redis.command('DBSIZE')) > 0, 'Redis was in use')

      await strike(redis)
      await talk.exchange(25)
      await using during = await TestClient.connect(postTo(transceiver.url))
      using newTalk = new Conversation(during)
      await newTalk.exchange(50)
      assert.equal((await newTalk.finish()).lost, 0)
      await relay.logged(/^redis is away/, 10_000)
      assert.equal((await talk.finish()).lost, 0)
      assert.deepEqual(await watch.stop(), ['200 200'])
      assert.equal(warnings(relay).length, 1)

      // Both calls are still on it, and Redis is still away: only the deadline can end this.
      relay.signal('SIGTERM')
      assert.equal(await relay.stop(), 0, 'it ended by itself, not by SIGKILL')
    })
  }
})
