/** A WebSocket's flood leaves the event loop to others, is done in few turns all the same, and loses nothing. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { connectWebSocket } from '../../../core/backend/connect-websocket.ts'
import { turnsUntil, work } from './event-loop-turns.ts'

const MEGABYTE = 1_048_576

let server: WebSocketServer
const opened: WebSocket[] = []
const signal = new AbortController().signal

beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  await once(server, 'listening')
})

afterEach(async () => {
  // What a flood has left in a receiver is handed out all the same.
  for (const socket of opened.splice(0)) socket.removeAllListeners()
  for (const socket of server.clients) socket.terminate()
  await new Promise((resolve) => server.close(resolve))
})

/** Our end of a connection, not yet read, and the other end. */
async function connected(): Promise<{ ours: WebSocket; theirs: WebSocket }> {
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  const url = new URL(`ws://127.0.0.1:${address.port}/`)
  const limits = { headers: {}, connectTimeoutMs: 5000, maxMessageBytes: MEGABYTE }
  const [[theirs], ours] = await Promise.all([
    once(server, 'connection'),
    connectWebSocket({ url, ...limits }, signal),
  ])
  assert.ok(ours)
  opened.push(ours)
  return { ours, theirs }
}

function flood(socket: WebSocket, count: number, text = 'x'): void {
  for (let n = 0; n < count; n++) socket.send(text)
}

describe('a flood of messages', () => {
  it('that each take a while is handled a few in a turn of the event loop', async () => {
    const { ours, theirs } = await connected()
    let done = 0
    ours.on('message', () => {
      work(1)
      done++
    })
    flood(theirs, 200)
    ours.resume()
    const { most } = await turnsUntil(
      () => done === 200,
      () => done,
    )
    assert.ok(most <= 10, `${most} in a turn`)
  })

  it('that take no time is handled in few turns', async () => {
    const { ours, theirs } = await connected()
    let done = 0
    ours.on('message', () => done++)
    flood(theirs, 20_000)
    ours.resume()
    const { turns } = await turnsUntil(
      () => done === 20_000,
      () => done,
    )
    assert.ok(turns < 4000, `${turns} turns`)
  })

  it('does not keep another connection from its turn', async () => {
    const flooded = await connected()
    const other = await connected()
    let done = 0
    flooded.ours.on('message', () => {
      work(0.5)
      done++
    })
    other.ours.on('message', (data) => other.ours.send(data)).resume()
    flood(flooded.theirs, 20_000)
    flooded.ours.resume()
    await once(flooded.ours, 'message')
    for (let n = 0; n < 20; n++) {
      other.theirs.send(String(n))
      await once(other.theirs, 'message')
    }
    assert.ok(done < 1000, `${done} of the flood before 20 echoes`)
  })

  it('shares its turn with other floods', async () => {
    const floods = [await connected(), await connected(), await connected(), await connected()]
    const done = floods.map(() => 0)
    floods.forEach(({ ours, theirs }, n) => {
      ours.on('message', () => {
        work(0.2)
        done[n]!++
      })
      flood(theirs, 3000)
      ours.resume()
    })
    await turnsUntil(
      () => Math.max(...done) >= 200,
      () => 0,
    )
    assert.ok(Math.min(...done) >= 50, `${done.join(', ')} messages of four floods`)
  })

  it('waits at its sender, and not in memory', async () => {
    const { ours, theirs } = await connected()
    let done = 0
    ours.on('message', () => {
      work(0.2)
      done++
    })
    flood(theirs, 200, 'x'.repeat(100_000))
    flood(theirs, 1)
    ours.resume()
    await turnsUntil(
      () => done >= 20,
      () => 0,
    )
    assert.ok(theirs.bufferedAmount > 5 * MEGABYTE, `${theirs.bufferedAmount} bytes left at the sender`)
  })

  it('comes whole and in order, and its end after it', async () => {
    const { ours, theirs } = await connected()
    const heard: string[] = []
    ours.on('message', (data) => {
      if (heard.length % 50 === 0) work(1)
      heard.push(String(data))
    })
    for (let n = 0; n < 2000; n++) theirs.send(String(n))
    theirs.close(4000)
    ours.resume()
    const [code] = await once(ours, 'close')
    assert.equal(code, 4000)
    assert.deepEqual(
      heard,
      Array.from({ length: 2000 }, (_, n) => String(n)),
    )
  })
})

for (const kind of ['ping', 'pong'] as const) {
  it(`a flood of ${kind}s takes its turns as well`, async () => {
    const { ours, theirs } = await connected()
    let done = 0
    ours.on(kind, () => {
      work(1)
      done++
    })
    theirs.send('x')
    for (let n = 0; n < 50; n++) theirs[kind]()
    ours.resume()
    const { most } = await turnsUntil(
      () => done === 50,
      () => done,
    )
    assert.ok(most <= 10, `${most} in a turn`)
  })
}

it('a message that goes on for ever, in empty pieces, ends the connection', async () => {
  const { ours, theirs } = await connected()
  theirs.on('error', () => {})
  ours.on('error', () => {}).resume()
  const closed = once(theirs, 'close')
  for (let pieces = 0; pieces <= MEGABYTE / 1024; pieces++) theirs.send('', { fin: false })
  assert.equal((await closed)[0], 1008)
})
