/** The roles apart: their configs, the README's three commands, and several of each on one machine. */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { load } from '../../core/config/load.ts'
import { parseAddress } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { TestClient } from '../peers/client.ts'
import { ROOT } from '../peers/edge.ts'
import { advertising, type EdgeProcess, roleFile, sharedSecrets, startRole } from '../peers/edge-processes.ts'
import { freePort } from '../peers/free-port.ts'
import { hangUpAt, postTo } from '../peers/signaling.ts'
import { Conversation } from './support/conversation.ts'

/** Talks for half a second in each call, all at once; no packet may be missing. */
async function assertAllTalk(clients: readonly TestClient[]): Promise<void> {
  await Promise.all(
    clients.map(async (client) => {
      using talk = new Conversation(client)
      await talk.exchange(25)
      assert.equal((await talk.finish()).lost, 0)
    }),
  )
}

describe('the configs of the roles', () => {
  for (const [role, plugins] of Object.entries({
    relay: ['codec', 'recovery', 'relay'],
    transceiver: ['codec', 'bridge', 'transceiver', 'demo'],
  })) {
    const file = join('deploy', 'roles', `${role}.json`)

    it(`${role}.json is right, and says which secrets it wants`, async () => {
      const check = (env: object) =>
        spawnSync(process.execPath, ['core/main.ts', 'check', file], {
          cwd: ROOT,
          env: { PATH: process.env.PATH, ...env },
          encoding: 'utf8',
        })
      const right = check(sharedSecrets())
      assert.equal(right.stderr, '')
      assert.match(right.stdout, new RegExp(`is valid: ${plugins.length} plugins`))
      const bare = check({})
      assert.equal(bare.status, 78)
      assert.match(bare.stderr, /environment variable EARSHOT_ROUTING_KEY is not set/)
    })

    it(`${role}.json serves a container: other addresses, and a key where others can reach it`, async () => {
      const env = {
        ...sharedSecrets(),
        EARSHOT_HTTP_HOST: '0.0.0.0',
        EARSHOT_ADMIN_HOST: '0.0.0.0',
        EARSHOT_RELAY_HOST: '0.0.0.0',
        EARSHOT_UPSTREAM_HOST: '10.1.0.4',
        EARSHOT_TRANSCEIVER_HOST: '10.1.0.5',
        EARSHOT_TRANSCEIVER_CIDR: '10.1.0.0/16',
        EARSHOT_RELAY_CIDR: '10.1.0.0/16',
        EARSHOT_CLUSTER: '7',
      }
      await assert.rejects(load(join(ROOT, file), env), /http\.keys has no API key/)
      const key = 'an-api-key-of-some-length'
      const { config, node, order } = await load(join(ROOT, file), { ...env, EARSHOT_API_KEY: key })
      assert.deepEqual([node.cluster, config.http.keys], [7, { app: key }])
      assert.deepEqual(order.map(({ id }) => id).sort(), [...plugins].sort())
    })
  }

  it('stay below each other: ports of one machine do not meet, and a relay drains longer than its transceivers', async () => {
    const [relay, transceiver] = await Promise.all(
      (['relay', 'transceiver'] as const).map((role) => load(roleFile(role), sharedSecrets())),
    )
    assert.ok(relay!.config.drainSeconds > transceiver!.config.drainSeconds)
    assert.notEqual(relay!.config.http.listen, transceiver!.config.http.listen)
    assert.notDeepEqual(relay!.config.admin, transceiver!.config.admin)
  })
})

describe('the README', () => {
  it('runs the roles apart in three commands', async () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    const commands = /## Run the roles apart[\s\S]*?```\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
    assert.equal(commands.trim().split('\n').length, 3)
    const port = String(await freePort())
    // The ports alone are the test's, so that it meets nobody else's.
    const env = {
      ...process.env,
      ...{
        EARSHOT_HTTP_PORT: '0',
        EARSHOT_ADMIN_PORT: '0',
        EARSHOT_UPSTREAM_PORT: '0',
        EARSHOT_DRAIN_SECONDS: '0',
      },
      ...{ EARSHOT_RELAY_PORT: port, EARSHOT_ADVERTISE: `127.0.0.1:${port}`, EARSHOT_TRANSCEIVER_PORT: '0' },
      ...{ EARSHOT_TRANSCEIVER_PORTS: '1024-65535', EARSHOT_REDIS_URL: 'redis://127.0.0.1:1' },
    }
    const shell = spawn('bash', ['-c', commands], {
      cwd: ROOT,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const said: string[] = []
    createInterface({ input: shell.stdout }).on('line', (line) => said.push(line))
    const find = (pattern: RegExp) => said.map((line) => pattern.exec(line)?.[1]).find((found) => found)
    try {
      const ready = () => said.filter((line) => line.includes('"msg":"ready"')).length === 2
      await eventually('both are ready', ready, 20_000)
      const page = find(/"msg":"open (\S+)"/)!
      assert.equal((await fetch(page)).status, 200)
      await using client = await TestClient.connect(postTo(page))
      await assertAllTalk([client])
    } finally {
      const gone = once(shell, 'close')
      process.kill(-shell.pid!, 'SIGTERM')
      await gone
    }
  })
})

describe('two relays and two transceivers', () => {
  it('share calls: each packet reaches its owner, and one that is stopped takes nobody with it', async () => {
    const secrets = sharedSecrets()
    const relays = await Promise.all([startRole('relay', secrets), startRole('relay', secrets)])
    await using stack = new AsyncDisposableStack()
    for (const relay of relays) stack.use(relay)
    const transceivers = await Promise.all(
      relays.map((relay) =>
        startRole('transceiver', { ...secrets, ...advertising(relay), EARSHOT_DRAIN_SECONDS: '600' }),
      ),
    )
    for (const transceiver of transceivers) stack.defer(() => transceiver.kill())
    const call = (to: EdgeProcess, through: EdgeProcess) =>
      TestClient.connect(postTo(to.url), { via: parseAddress(through.addresses.relay)! })

    // Each transceiver's calls come through both relays.
    const [one, two] = transceivers
    const clients = await Promise.all([
      ...[call(one!, relays[0]!), call(one!, relays[1]!)],
      ...[call(two!, relays[0]!), call(two!, relays[1]!)],
    ])
    for (const client of clients) stack.use(client)
    await assertAllTalk(clients)
    for (const transceiver of transceivers) {
      const { sessions } = await transceiver.ask<{ sessions: { packetsReceived: number; lost: number }[] }>(
        '/transceiver/sessions',
      )
      assert.deepEqual(
        sessions.map(({ lost }) => lost),
        [0, 0],
      )
      for (const { packetsReceived } of sessions) assert.ok(packetsReceived >= 25)
      // Nothing came that was another's.
      for (const reason of ['unknown_ufrag', 'unclaimed_media', 'untrusted']) {
        assert.equal(await transceiver.metric('transceiver_drops_total', { reason }), 0, reason)
      }
    }
    for (const relay of relays) {
      assert.equal(await relay.metric('relay_flows', { state: 'confirmed' }), 2)
      assert.equal(await relay.metric('relay_drops_total'), 0)
    }

    // A hang-up that comes to the wrong one works; the other's calls know nothing of it.
    const path = new URL(clients[0]!.url!).pathname
    await hangUpAt(new URL(path, two!.url).href)
    assert.equal(await clients[0]!.ended, 'close_notify')
    await assertAllTalk(clients.slice(1))

    // One is told to stop with a call on it: the call goes on, new ones go to the other.
    one!.signal('SIGTERM')
    await one!.logged(/^stopping/)
    await assert.rejects(postTo(one!.url)(clients[1]!.offer), /draining/)
    const late = stack.use(await call(two!, relays[0]!))
    await assertAllTalk([...clients.slice(1), late])
    await clients[1]!.close()
    assert.equal(await one!.exited, 0)
    await assertAllTalk([clients[2]!, clients[3]!, late])
  })
})
