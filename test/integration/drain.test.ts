/** SIGTERM to processes with calls on them: a transceiver, a relay, both; once, twice, with time and without. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { TestClient } from '../peers/client.ts'
import {
  advertising,
  type EdgeProcess,
  type Env,
  sharedSecrets,
  startProcess,
  startRole,
} from '../peers/edge-processes.ts'
import { randomCredentials, writeOffer } from '../peers/offer.ts'
import { writeRole } from '../peers/role-config.ts'
import { hangUpAt, postTo } from '../peers/signaling.ts'
import { Conversation } from './support/conversation.ts'

const OFFER = writeOffer({ ...randomCredentials(), fingerprint: Array(32).fill('AB').join(':') })
const LONG: Env = { EARSHOT_DRAIN_SECONDS: '600' }
const SHORT: Env = { EARSHOT_DRAIN_SECONDS: '1' }
const ENDED = { type: 'session.ended', reason: 'draining' }

let secrets: Env
let relay: EdgeProcess
let transceiver: EdgeProcess

async function start(ofRelay: Env, ofTransceiver: Env): Promise<void> {
  relay = await startRole('relay', { ...secrets, ...ofRelay })
  transceiver = await startRole('transceiver', { ...secrets, ...advertising(relay), ...ofTransceiver })
}

const call = (): Promise<TestClient> => TestClient.connect(postTo(transceiver.url))

async function readiness({ url }: EdgeProcess): Promise<unknown[]> {
  const response = await fetch(`${url}readyz`)
  return [response.status, await response.json()]
}

/** Sends SIGTERM and waits until the process drains. */
async function term(edge: EdgeProcess): Promise<void> {
  edge.signal('SIGTERM')
  await edge.logged(/^stopping/)
}

/** Packets go to and fro, and none is lost. */
async function assertTalks(client: TestClient): Promise<void> {
  using talk = new Conversation(client)
  await talk.exchange(25)
  assert.equal((await talk.finish()).lost, 0)
}

beforeEach(() => {
  secrets = sharedSecrets()
})

afterEach(async () => {
  await Promise.all([transceiver.kill(), relay.kill()])
})

describe('SIGTERM to a transceiver', () => {
  it('takes no new calls and lets those there go on, until the last is hung up by its id', async () => {
    await start({}, LONG)
    await using client = await call()
    await using other = await call()
    await term(transceiver)
    assert.deepEqual(await readiness(transceiver), [503, { status: 'draining' }])
    const headers = { 'content-type': 'application/sdp' }
    const refused = await fetch(`${transceiver.url}v1/realtime/calls`, {
      method: 'POST',
      headers,
      body: OFFER,
    })
    assert.equal(refused.status, 503)
    assert.match(await refused.text(), /"code":"draining"/)
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    assert.equal(refused.headers.get('connection'), 'close')
    await assertTalks(client)
    await hangUpAt(client.url!)
    assert.deepEqual(await client.events.take(), { type: 'session.ended', reason: 'hang_up' })
    assert.equal(await client.ended, 'close_notify')
    await assertTalks(other)
    assert.ok(transceiver.runs)
    await other.close()
    assert.equal(await transceiver.exited, 0)
  })

  it('ends what is left when time is up, whatever state it is in, and says why', async () => {
    await start({}, SHORT)
    await using client = await call()
    // One that is answered and does not come, one on its way: its first checks are lost.
    await postTo(transceiver.url)(OFFER)
    await using late = await TestClient.open()
    late.socket.tap = (way) => way === 'in'
    late.accept(await postTo(transceiver.url)(late.offer))
    await term(transceiver)
    late.socket.tap = undefined
    await late.connected()
    for (const each of [client, late]) {
      assert.deepEqual(await each.events.take(), ENDED)
      assert.equal(await each.ended, 'close_notify')
    }
    assert.equal(await transceiver.exited, 0)
    const reasons = transceiver.log.flatMap(({ msg, reason }) =>
      /^call (ended|failed)$/.test(msg) ? [reason] : [],
    )
    assert.deepEqual(reasons, ['draining', 'draining', 'draining'])
  })

  it('without time for calls still tells each of them', async () => {
    await start({}, {})
    await using client = await call()
    transceiver.signal('SIGTERM')
    assert.deepEqual(await client.events.take(), ENDED)
    assert.equal(await client.ended, 'close_notify')
    assert.equal(await transceiver.exited, 0)
  })

  it('twice within half a second is once; a later one stops it at once, and clients hear that it is over', async () => {
    await start({}, LONG)
    await using client = await call()
    await term(transceiver)
    transceiver.signal('SIGTERM')
    await assertTalks(client)
    await delay(600)
    transceiver.signal('SIGTERM')
    assert.equal(await client.ended, 'close_notify')
    assert.equal(await transceiver.exited, 143)
  })
})

describe('SIGTERM to a relay', () => {
  it('goes on forwarding, new calls too, and leaves by itself when the last has fallen silent', async () => {
    await start(LONG, {})
    await using client = await call()
    await term(relay)
    assert.deepEqual(await readiness(relay), [503, { status: 'draining' }])
    await assertTalks(client)
    await using other = await call()
    await assertTalks(other)
    // It moves to another port: a new flow.
    await other.rebind()
    await assertTalks(other)
    await client.close()
    await assertTalks(other)
    assert.ok(relay.runs)
    // This one sends on and on, to nobody.
    await hangUpAt(other.url!)
    using _talk = new Conversation(other, false)
    assert.equal(await relay.exited, 0)
  })

  it('leaves at the deadline, whoever still talks', async () => {
    await start(SHORT, {})
    await using client = await call()
    using _talk = new Conversation(client, false)
    await term(relay)
    assert.equal(await relay.exited, 0)
    assert.ok(relay.log.some(({ msg }) => /until its calls fall silent/.test(msg)))
  })

  it('leaves at once when it carries nothing', async () => {
    await start(LONG, {})
    relay.signal('SIGTERM')
    assert.equal(await relay.exited, 0)
    assert.ok(!relay.log.some(({ msg }) => /fall silent/.test(msg)))
  })
})

describe('SIGTERM to both in one process', () => {
  it('keeps the relay for as long as there are calls, and for their last words', async () => {
    transceiver = relay = await startRole('loopback', SHORT)
    await using client = await call()
    using talk = new Conversation(client, false)
    await term(relay)
    await talk.exchange(5)
    assert.deepEqual(await client.events.take(), ENDED)
    assert.equal(await client.ended, 'close_notify')
    assert.equal(await relay.exited, 0)
  })

  it('a second signal: clients hear that it is over', async () => {
    transceiver = relay = await startRole('loopback', LONG)
    await using client = await call()
    await term(relay)
    relay.signal('SIGINT')
    assert.equal(await client.ended, 'close_notify')
    assert.equal(await relay.exited, 130)
  })
})

describe('a drain has a deadline', () => {
  it('whatever Redis or a backend does: both take every connection and never answer', async () => {
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
    }).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = silent.address()
    assert.ok(address !== null && typeof address === 'object')
    const folder = await mkdtemp(join(tmpdir(), 'earshot-drain-'))
    try {
      const config = await writeRole(folder, 'transceiver', ({ plugins }) => {
        const options = { url: `ws://127.0.0.1:${address.port}/`, rate: 24_000 }
        plugins.bridge = { use: './plugins/inference-bridge/websocket/index.ts', options }
      })
      const redis = { EARSHOT_REDIS_URL: `redis://127.0.0.1:${address.port}` }
      relay = await startRole('relay', { ...secrets, ...redis, ...SHORT })
      transceiver = await startProcess(config, { ...secrets, ...advertising(relay), ...SHORT })
      await using client = await call()
      // Redis, and the bridge of this call.
      assert.ok(sockets.size >= 2)
      for (const edge of [transceiver, relay]) {
        assert.equal((await fetch(`${edge.url}livez`)).status, 200)
        assert.deepEqual(await readiness(edge), [200, { status: 'ready' }])
      }
      await term(transceiver)
      assert.deepEqual(await client.events.take(), ENDED)
      assert.equal(await transceiver.exited, 0)
      relay.signal('SIGTERM')
      assert.equal(await relay.exited, 0)
    } finally {
      for (const socket of sockets) socket.destroy()
      silent.close()
      await rm(folder, { recursive: true })
    }
  })
})
