/** Routing keys change while calls go on: a relay and a transceiver, each with a keys file of its own. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { firstBytes } from '../../plugins/routing-codec/sealed/base32.ts'
import { TestClient } from '../peers/client.ts'
import { advertising, type EdgeProcess, sharedSecrets, startProcess } from '../peers/edge-processes.ts'
import { writeRole } from '../peers/role-config.ts'
import { hangUpAt, postTo } from '../peers/signaling.ts'
import { Conversation } from './support/conversation.ts'

const newKey = (id: number) => ({ id, key: randomBytes(16).toString('hex') })
const ONE = newKey(1)
const TWO = newKey(2)
type Keys = readonly (typeof ONE)[]
type Role = 'relay' | 'transceiver'

let folder: string
let relay: EdgeProcess
let transceiver: EdgeProcess

const keysFile = (role: Role): string => join(folder, `${role}-keys.json`)

/** Puts keys in place as a whole. */
async function write(role: Role, keys: Keys): Promise<void> {
  await writeFile(`${keysFile(role)}.new`, JSON.stringify(keys))
  await rename(`${keysFile(role)}.new`, keysFile(role))
}

/** Ships keys to a role, and waits until its metrics say that they are in use. */
async function ship(role: Role, keys: Keys): Promise<void> {
  await write(role, keys)
  const edge = role === 'relay' ? relay : transceiver
  const uses = async (key: (typeof keys)[number], use: string, wanted: boolean): Promise<boolean> =>
    (await edge.metric('sealed_keys', { key: String(key.id), use })) === (wanted ? 1 : 0)
  const inUse = async (): Promise<boolean> => {
    const shown = [ONE, TWO].flatMap((key) => [
      uses(key, 'decode', keys.includes(key)),
      uses(key, 'encode', key === keys[0]),
    ])
    return (await Promise.all(shown)).every(Boolean)
  }
  await eventually(`${role} uses keys ${keys.map(({ id }) => id)}`, inUse, 10_000)
}

/** The shipped config of a role, with a keys file in the place of the key. */
const configOf = (role: Role): Promise<string> =>
  writeRole(folder, role, ({ plugins }) => {
    plugins.codec!.options = { keysFile: keysFile(role) }
  })

const call = (): Promise<TestClient> => TestClient.connect(postTo(transceiver.url))

/** The key that a call's ufrag was written with: its id stands in clear behind the version. */
const keyOf = (client: TestClient): number => firstBytes(Buffer.from(client.answer!.ufrag), 0) & 255

const refusals = (edge: EdgeProcess): Promise<number> =>
  edge.metric('sealed_refusals_total', { reason: 'unknown_key' })

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-rotation-'))
  await write('relay', [ONE])
  await write('transceiver', [ONE])
  const secrets = sharedSecrets()
  relay = await startProcess(await configOf('relay'), secrets)
  transceiver = await startProcess(await configOf('transceiver'), { ...secrets, ...advertising(relay) })
})

after(async () => {
  await transceiver?.kill()
  await relay?.kill()
  await rm(folder, { recursive: true })
})

describe('a change of the routing key with calls running', () => {
  it('in order loses no packet, and calls of both keys go on, move, and are hung up', async () => {
    const old = [await call(), await call()]
    const [stays, moves] = old
    const talks = old.map((client) => new Conversation(client))
    try {
      await ship('relay', [ONE, TWO])
      await ship('transceiver', [ONE, TWO])
      await ship('transceiver', [TWO, ONE])
      assert.deepEqual(old.map(keyOf), [1, 1])
      const fresh = await call()
      assert.equal(keyOf(fresh), 2)
      const talk = new Conversation(fresh)
      talks.push(talk)
      for (const each of talks) await each.exchange(10)
      for (const each of talks) {
        const { lost, sent, eventsSent, eventsHeard } = await each.finish()
        assert.deepEqual([lost, eventsHeard.length], [0, eventsSent])
        assert.ok(sent > 10)
      }

      // From another port the relay knows nothing but the ufrag, which the old key wrote.
      await moves!.rebind()
      const later = new Conversation(moves!)
      await later.exchange(10)
      assert.equal((await later.finish()).lost, 0)
      for (const client of [stays, moves, fresh]) {
        await hangUpAt(client!.url!)
        assert.equal(await client!.ended, 'close_notify')
      }

      await ship('transceiver', [TWO])
      await ship('relay', [TWO])
      await using last = await call()
      assert.equal(keyOf(last), 2)
      assert.deepEqual([await refusals(relay), await refusals(transceiver)], [0, 0])
      assert.equal(await relay.metric('relay_drops_total', { reason: 'unroutable_ufrag' }), 0)
      await fresh.close()
    } finally {
      for (const talk of talks) talk[Symbol.dispose]()
      for (const client of old) await client.close()
    }
  })

  it('in the wrong order leaves new calls unconnected until relays have the key, and harms no other', async () => {
    await using running = await call()
    using talk = new Conversation(running)
    await ship('transceiver', [ONE, TWO])
    await using early = await TestClient.open({ timeoutMs: 25_000 })
    early.accept(await postTo(transceiver.url)(early.offer))
    assert.equal(keyOf(early), 1)
    await eventually('the relay says so', async () => (await refusals(relay)) > 0, 5000)
    assert.ok((await relay.metric('relay_drops_total', { reason: 'unroutable_ufrag' })) > 0)
    await ship('relay', [ONE, TWO])
    await early.connected()
    await talk.exchange(10)
    assert.equal((await talk.finish()).lost, 0)
    const faults = [relay, transceiver].flatMap(({ log }) => log.filter(({ level }) => level === 'error'))
    assert.deepEqual(faults, [])
  })

  it('by a file that is broken changes nothing, and says so once', async () => {
    await using running = await call()
    using talk = new Conversation(running)
    await writeFile(keysFile('relay'), '[{ "id": 3, "key": ')
    const { reason, level } = await relay.logged('routing keys file is bad: keeping the keys in use', 10_000)
    assert.deepEqual([reason, level], ['it is not JSON', 'warn'])
    assert.equal(await relay.metric('sealed_keys_file_faults_total'), 1)
    await using fresh = await call()
    assert.equal(keyOf(fresh), 1)
    await ship('relay', [ONE])
    await talk.exchange(10)
    assert.equal((await talk.finish()).lost, 0)
  })
})
