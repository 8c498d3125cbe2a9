/** A sideband that says more than its call may is read more slowly, and heard whole. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { eventually } from '../../../../../core/testing/check.ts'
import {
  PACKET_BYTES,
  PACKETS_AT_ONCE,
  PacketBudget,
} from '../../../../../plugins/transceiver/packet-budget.ts'
import { SidebandIntake } from '../../../../../plugins/transceiver/signaling/sideband-intake.ts'

/**
 * Both ends of a WebSocket, and what is heard of one; closed with the test. `spend` as a budget's; `onHeard` is told how
 * much was heard.
 */
async function pair(t: TestContext, spend: PacketBudget['spend'], onHeard?: (count: number) => void) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', allowSynchronousEvents: false })
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  const client = new WebSocket(`ws://127.0.0.1:${address.port}`)
  const connected = once(client, 'open')
  const [socket]: WebSocket[] = await once(server, 'connection')
  await connected
  assert.ok(socket)
  const heard: (string | undefined)[] = []
  const intake = new SidebandIntake(socket, { spend }, (text) => {
    heard.push(text)
    onHeard?.(heard.length)
  })
  t.after(() => {
    intake.stop()
    client.terminate()
    server.close()
  })
  return { client, socket, intake, heard }
}

const numbered = (length: number): string[] => Array.from({ length }, (_, n) => String(n))

test('a flood is heard whole and in order, and the socket is not read meanwhile', async (t) => {
  let spent = 0
  const waits: number[] = []
  const { client, socket, heard } = await pair(t, () => {
    if (++spent % 100 !== 0) return 0
    waits.push(heard.length)
    return 30
  })
  const all = numbered(1000)
  for (const text of all) client.send(text)
  await eventually('it waits', () => socket.isPaused)
  await eventually('all is heard', () => heard.length === all.length)
  assert.deepEqual(heard, all)
  assert.deepEqual(waits, all.filter((_, n) => n % 100 === 99).map(Number))
  await eventually('it is read again', () => !socket.isPaused)
})

test('nothing is taken before its time', async (t) => {
  const { client, socket, heard } = await pair(t, () => 2 ** 30)
  for (const text of numbered(500)) client.send(text)
  await eventually('it waits', () => socket.isPaused)
  // What had been read by then has been handed out when the loop has turned so often.
  for (let n = 0; n < 1000; n++) await new Promise(setImmediate)
  assert.deepEqual(heard, ['0'])
})

test('what is no text is counted by its size too, and told apart', async (t) => {
  const sizes: number[] = []
  const { client, heard } = await pair(t, (_now, bytes) => {
    sizes.push(bytes)
    return 0
  })
  client.send('häufig')
  client.send(Buffer.alloc(3000))
  await eventually('both are heard', () => heard.length === 2)
  assert.deepEqual(heard, ['häufig', undefined])
  assert.deepEqual(sizes, [7, 3000])
})

test('one that is stopped is not heard any more, and its close gets through', async (t) => {
  const { client, socket, intake, heard } = await pair(t, () => 2 ** 30)
  for (const text of numbered(500)) client.send(text)
  client.close(4000, 'enough')
  await eventually('it waits', () => socket.isPaused)
  const closed = once(socket, 'close')
  intake.stop()
  intake.stop()
  assert.equal((await closed)[0], 4000)
  assert.deepEqual(heard, ['0'])
})

test('one that is stopped by what it says is not heard to the end of what waits', async (t) => {
  let spent = 0
  const rig = await pair(
    t,
    () => (++spent === 1 ? 30 : 0),
    (count) => {
      if (count === 10) rig.intake.stop()
    },
  )
  const { client, socket, heard } = rig
  for (const text of numbered(500)) client.send(text)
  client.close(4000, 'enough')
  assert.equal((await once(socket, 'close'))[0], 4000)
  assert.deepEqual(heard, numbered(10))
})

test('one that we close is not heard while its other end does not know', async (t) => {
  const { client, socket, heard } = await pair(t, () => 0)
  client.send('0')
  await eventually('it is heard', () => heard.length === 1)
  const closed = once(socket, 'close')
  socket.close()
  client.send('1')
  await closed
  assert.deepEqual(heard, ['0'])
})

test('a budget that several share is theirs together', async (t) => {
  const budget = new PacketBudget()
  let spent = 0
  const spend = (now: number, bytes: number): number => {
    spent++
    return budget.spend(now, bytes)
  }
  const both = await Promise.all([pair(t, spend), pair(t, spend)])
  const large = 'x'.repeat(PACKET_BYTES * (PACKETS_AT_ONCE / 4))
  for (const { client } of both) for (let n = 0; n < 3; n++) client.send(large)
  await eventually('one waits', () => both.some(({ socket }) => socket.isPaused))
  assert.ok(spent >= 4, String(spent))
  await eventually('all is heard', () => both.every(({ heard }) => heard.length === 3))
})
