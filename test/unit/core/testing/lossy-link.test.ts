/** The hop forwards, counts, rebinds and lets a test watch, change and drop. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { UdpPort } from '../../../../core/contracts/udp-port.ts'
import { LossyLink, type LossyLinkOptions } from '../../../../core/testing/lossy-link.ts'
import { dgramEngine } from '../../../../core/udp/dgram-engine.ts'
import { type Address, parseAddress } from '../../../../core/wire/address.ts'

interface Heard {
  readonly text: string
  readonly source: Address
}

interface Peer {
  readonly port: UdpPort
  say(text: string, to: Address): void
  /** The next datagram that was not yet taken. */
  next(): Promise<Heard>
}

async function peer(t: TestContext): Promise<Peer> {
  const heard: Heard[] = []
  let wake = (): void => {}
  const port = await dgramEngine.open({
    address: parseAddress('127.0.0.1:0')!,
    onDatagram: (d) => {
      heard.push({ text: d.bytes.toString('latin1', d.start, d.end), source: d.source.clone() })
      wake()
    },
  })
  t.after(() => port.close())
  return {
    port,
    say: (text, to) => port.send(Buffer.from(text), 0, text.length, to),
    next: async () => {
      while (heard.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return heard.shift()!
    },
  }
}

async function setUp(t: TestContext, options: Omit<LossyLinkOptions, 'server'> = {}) {
  const [client, server] = [await peer(t), await peer(t)]
  const link = await LossyLink.open({ server: server.port.local, ...options })
  t.after(() => link.close())
  return { client, server, link }
}

test('forwards both ways; the server sees the link’s port, the client the link’s address', async (t) => {
  const { client, server, link } = await setUp(t)
  client.say('hello', link.address)
  const up = await server.next()
  assert.equal(up.text, 'hello')
  assert.ok(up.source.equals(await link.mapped()))
  assert.ok(!up.source.equals(client.port.local))
  server.say('there', up.source)
  const down = await client.next()
  assert.equal(down.text, 'there')
  assert.ok(down.source.equals(link.address))
  assert.deepEqual(link.counters.up, { received: 1, forwarded: 1, dropped: 0 })
  assert.deepEqual(link.counters.down, { received: 1, forwarded: 1, dropped: 0 })
})

test('a burst keeps its order, the first datagrams of a client included', async (t) => {
  const { client, server, link } = await setUp(t)
  for (let i = 0; i < 50; i++) client.say(String(i), link.address)
  for (let i = 0; i < 50; i++) assert.equal((await server.next()).text, String(i))
})

test('rebind: a new port up, and nothing comes down the old one', async (t) => {
  const { client, server, link } = await setUp(t)
  client.say('before', link.address)
  const before = await server.next()
  const moved = await link.rebind()
  assert.ok(!moved.equals(before.source))
  client.say('after', link.address)
  const after = await server.next()
  assert.ok(after.source.equals(moved))
  server.say('lost', before.source)
  server.say('found', after.source)
  assert.equal((await client.next()).text, 'found')
  assert.equal(link.counters.down.received, 1)
})

test('only the server is let through to a client', async (t) => {
  const { client, server, link } = await setUp(t)
  const stranger = await peer(t)
  client.say('hello', link.address)
  const { source } = await server.next()
  stranger.say('intruder', source)
  server.say('server', source)
  assert.equal((await client.next()).text, 'server')
})

test('each client has its own port, and must be named when there are several', async (t) => {
  const { client, server, link } = await setUp(t)
  const other = await peer(t)
  client.say('a', link.address)
  const a = await server.next()
  other.say('b', link.address)
  const b = await server.next()
  assert.ok(!a.source.equals(b.source))
  assert.deepEqual((await link.clients()).map(String), [String(client.port.local), String(other.port.local)])
  await assert.rejects(link.rebind(), /2 clients/)
  await assert.rejects(link.mapped(server.port.local), /heard nothing/)
  assert.ok((await link.mapped(other.port.local)).equals(b.source))
  server.say('to b', b.source)
  assert.equal((await other.next()).text, 'to b')
})

test('the tap watches, changes and drops', async (t) => {
  const seen: string[] = []
  const { client, server, link } = await setUp(t, {
    tap: (direction, datagram, from) => {
      seen.push(`${direction} ${datagram} ${from.equals(client.port.local)}`)
      if (datagram.equals(Buffer.from('drop'))) return undefined
      return Buffer.concat([datagram, Buffer.from('!')])
    },
  })
  client.say('drop', link.address)
  client.say('keep', link.address)
  const up = await server.next()
  assert.equal(up.text, 'keep!')
  server.say('down', up.source)
  assert.equal((await client.next()).text, 'down!')
  assert.deepEqual(seen, ['up drop true', 'up keep true', 'down down true'])
  assert.deepEqual(link.counters.up, { received: 2, forwarded: 1, dropped: 1 })
})

test('spoof speaks to the server from the client’s address', async (t) => {
  const { client, server, link } = await setUp(t)
  client.say('me', link.address)
  const me = await server.next()
  await link.spoof(Buffer.from('not me'))
  const forged = await server.next()
  assert.equal(forged.text, 'not me')
  assert.ok(forged.source.equals(me.source))
})

test('faults can be turned on and off in mid-call', async (t) => {
  const { client, server, link } = await setUp(t, { up: { loss: 1 } })
  const all: string[] = []
  link.tap = (_direction, datagram) => {
    all.push(String(datagram))
    if (String(datagram) === 'last lost') link.impair('up', { duplicate: 1 })
    return datagram
  }
  link.impair('up', { loss: 1 })
  client.say('lost', link.address)
  client.say('last lost', link.address)
  client.say('twice', link.address)
  // The tap runs before the fault is drawn, so the faults changed in time for `last lost`.
  const texts = [await server.next(), await server.next(), await server.next(), await server.next()]
  assert.deepEqual(
    texts.map((h) => h.text),
    ['last lost', 'last lost', 'twice', 'twice'],
  )
  assert.equal(link.counters.up.dropped, 1)
  assert.deepEqual(all, ['lost', 'last lost', 'twice'])
})
