/** The loop of a relay's thread, in a thread: what goes through, what stops it, and what its end costs. */

import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { after, afterEach, describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { eventually } from '../../../../core/testing/check.ts'
import { batchedEngine } from '../../../../core/udp/batched-engine.ts'
import { clockOffset } from '../../../../core/udp/thread-clock.ts'
import type { ThreadControl, ThreadSocket } from '../../../../core/udp/thread-sockets.ts'
import { Address } from '../../../../core/wire/address.ts'

const udp = batchedEngine()?.threads
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

interface Thread {
  readonly worker: Worker
  readonly control: ThreadControl
  readonly sockets: readonly ThreadSocket[]
  readonly received: Buffer[]
  readonly client: Socket
  send(...bytes: number[]): void
  spawn(): Promise<Worker>
}

async function bound(): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  ends.push(() => socket.close())
  return socket
}

const LOOPBACK = new Address().set(0, 0, 0xffff, 0x7f000001, 0)

async function start(more: { cpu?: number; coalesceMicroseconds?: number } = {}): Promise<Thread> {
  const sockets = [LOOPBACK, LOOPBACK].map((address) => udp!.open(address, { reusePort: true }))
  const control = udp!.control()
  const sink = await bound()
  const client = await bound()
  const received: Buffer[] = []
  sink.on('message', (bytes) => received.push(bytes))
  const options = {
    sockets: sockets.map(({ shared }) => ({ ...shared, segments: false })),
    control: control.shared,
    coalesceMicroseconds: more.coalesceMicroseconds ?? 0,
    cpu: more.cpu,
    clockOffset: clockOffset(),
  }
  const spawn = async (): Promise<Worker> => {
    const workerData = { options, to: `127.0.0.1:${sink.address().port}` }
    const worker = new Worker(new URL('./datagram-loop-thread.ts', import.meta.url), { workerData })
    ends.push(() => worker.terminate())
    const [word] = await once(worker, 'message')
    assert.equal(word, 'runs')
    return worker
  }
  ends.push(() => {
    for (const socket of sockets) socket.close()
    control.close()
  })
  const worker = await spawn()
  const send = (...bytes: number[]): void =>
    client.send(Buffer.from(bytes), sockets[0]!.local.port, '127.0.0.1')
  return { worker, control, sockets, received, client, spawn, send }
}

const seconds = (received: readonly Buffer[]): number[] => received.map((bytes) => bytes[1]!)
const options = { skip: udp ? false : 'no system calls for UDP in batches here' }

describe('a datagram loop', options, () => {
  test('forwards in place, with room in front, on the clock of its owner', async () => {
    const { send, received, sockets } = await start()
    send(9, 8)
    await eventually('it came through', () => received.length === 1)
    assert.deepEqual(received[0], Buffer.from([7, 9, 8]))
    await eventually('and was counted', () => sockets[1]!.counters.sent === 1)
    assert.equal(sockets[0]!.counters.received, 1)
  })

  test('ends when it is told to, woken or not, and its sockets stay open', async () => {
    for (const isWoken of [true, false]) {
      const { worker, control, sockets } = await start()
      control.words.stop()
      if (isWoken) control.wake()
      assert.deepEqual(await once(worker, 'exit'), [0])
      assert.throws(() => udp!.open(sockets[0]!.local, { reusePort: false }), { code: 'address_in_use' })
    }
  })

  test('can be terminated while it waits and while it works: V8 looks where a function begins', async () => {
    for (const isBusy of [true, false]) {
      const { worker, send } = await start()
      const flood = setInterval(() => {
        for (let n = 0; isBusy && n < 200; n++) send(9)
      })
      await worker.terminate()
      clearInterval(flood)
    }
  })

  test('hears who wakes it, also while its socket is never empty', async () => {
    const { worker, control, send } = await start()
    const flood = setInterval(() => {
      for (let n = 0; n < 500; n++) send(9)
    })
    worker.postMessage('hello')
    control.wake()
    const [{ heard, ticks }] = await once(worker, 'message')
    clearInterval(flood)
    assert.equal(heard, 'hello')
    assert.ok(ticks > 0)
  })

  test('what its receiver throws costs the datagram at hand', async () => {
    const { send, received, sockets } = await start()
    for (const first of [9, 1, 9]) send(first)
    await eventually('the others came through', () => received.length === 2)
    assert.equal(sockets[0]!.counters.receiveErrors, 1)
  })

  test('what its successor finds is dealt with; at what two have died the third passes by', async () => {
    const { worker, control, spawn, send, received } = await start()
    // Stopped on purpose in the midst of a batch, by a datagram that it never gets over.
    for (const first of [9, 2, 10]) send(first)
    let dying = worker
    for (let deaths = 0; deaths < 2; deaths++) {
      await stands(control)
      await dying.terminate()
      dying = await spawn()
    }
    await eventually('the rest came through', () => received.length >= 2)
    assert.deepEqual(new Set(seconds(received)), new Set([9, 10]))
    // All came in one batch, or one after another.
    for (const [mark, second] of received) assert.ok(mark === 7 || mark === (second === 9 ? 6 : 5))
  })

  test('beats, and tells how busy it is', async () => {
    const { control, send, received } = await start({ coalesceMicroseconds: 200, cpu: udp!.cpus[0]! })
    const { beat, batches } = control.words
    send(9)
    await eventually('it came through', () => received.length === 1)
    await eventually('it beats', () => control.words.beat > beat)
    assert.ok(control.words.batches > batches && control.words.busyMs > 0)
  })
})

test('nothing of a thread is left when it is closed', options, async () => {
  const open = (): number => readdirSync('/proc/self/fd').length
  const threads = (): number => readdirSync('/proc/self/task').length
  const before = [open(), threads()]
  const { worker, control } = await start()
  control.words.stop()
  await once(worker, 'exit')
  for (const end of ends.splice(0).reverse()) await end()
  await eventually('all is as before', () => open() <= before[0]! && threads() <= before[1]!)
})

after(() => assert.equal(ends.length, 0))

/** Waits until the loop beats no more. */
async function stands({ words }: ThreadControl): Promise<void> {
  let last = -1
  await eventually('the loop stands', async () => {
    const before = last
    last = words.beat
    await new Promise((resolve) => setTimeout(resolve, 150))
    return before === words.beat
  })
}
