import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_CHANNELS } from '../../../../../plugins/transceiver/peer/data-channels.ts'
import { DCEP_ACK, PPID } from '../../../../../plugins/transceiver/peer/dcep.ts'
import { CHUNK } from '../../../../../plugins/transceiver/peer/sctp-guard.ts'
import { seeded, until } from './channel-pair.ts'
import { connectRawPeer, type RawPeer } from './raw-peer.ts'
import { chunk, data, halves, parameter, sealed, words } from './sctp-packets.ts'

const text = Buffer.from('x')

/** A peer with one open channel. */
async function connected(): Promise<RawPeer> {
  const raw = await connectRawPeer()
  raw.openChannel(0, 'c')
  await until(() => raw.server.open, 'open')
  await raw.settle()
  return raw
}

/** Both directions still work. */
async function assertWorks(raw: RawPeer): Promise<void> {
  const before = raw.messages.length
  void raw.peer.send(0, PPID.text, Buffer.from('still there?'))
  await until(() => raw.messages.length > before, 'a message to the server')
  assert.equal(raw.messages.at(-1), 'still there?')
  assert.ok(raw.server.send('yes'))
  await until(() => raw.heard.at(-1) === '0:51:yes', 'a message to the peer')
}

test('werift fault 5: deprecated and unknown payload protocols, a stray ACK and data without a channel', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  void raw.peer.send(0, 52, text)
  void raw.peer.send(0, 54, text)
  void raw.peer.send(0, 9999, text)
  void raw.peer.send(77, PPID.dcep, DCEP_ACK)
  void raw.peer.send(78, PPID.text, text)
  void raw.peer.send(0, PPID.dcep, Buffer.from([3, 0]))
  await until(() => raw.faults.length === 6, 'faults')
  assert.deepEqual(raw.faults, [
    ...['payload_protocol', 'payload_protocol', 'payload_protocol', 'stray_ack', 'no_channel', 'dcep'],
  ])
  await assertWorks(raw)
})

test('werift faults 5 and 6: unknown chunks and lengths of 0', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  raw.inject(chunk(0x3f, []))
  raw.inject(chunk(CHUNK.cookieAck, [], 0, 0))
  raw.inject(chunk(CHUNK.data, [0], 3))
  raw.inject(chunk(CHUNK.init, Buffer.alloc(16, 1)), chunk(CHUNK.cookieAck, []))
  raw.inject(chunk(CHUNK.heartbeat, parameter(1, [], 0)))
  assert.deepEqual(raw.faults, [
    ...['unknown_chunk', 'chunk_length', 'chunk_length', 'chunk_count', 'parameter_length'],
  ])
  await assertWorks(raw)
})

test('binary messages and both kinds of emptiness are passed up', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  void raw.peer.send(0, PPID.binary, Buffer.from([1, 2]))
  void raw.peer.send(0, PPID.emptyText, Buffer.from([0]))
  void raw.peer.send(0, PPID.emptyBinary, Buffer.from([0]))
  await until(() => raw.messages.length === 3, 'messages')
  assert.deepEqual(raw.messages, [Buffer.from([1, 2]), '', new Uint8Array()])
})

test('a late copy of the INIT does not start the association over', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  const init = raw.up.find((p) => p[12] === CHUNK.init)!
  const cookieEcho = raw.up.find((p) => p[12] === CHUNK.cookieEcho)!
  await assertWorks(raw)
  raw.server.receive(Buffer.from(init))
  raw.server.receive(Buffer.from(cookieEcho))
  await raw.settle()
  await assertWorks(raw)
  assert.deepEqual(raw.opened, ['c'])
})

test('both sides may send an INIT', async (t) => {
  const raw = await connectRawPeer({ role: 'client' })
  t.after(() => raw.close())
  raw.openChannel(0, 'c')
  await until(() => raw.server.open, 'open')
  await assertWorks(raw)
})

test('SACKs of what was never sent are not believed', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  const real = raw.up.findLast((p) => p[12] === CHUNK.sack)!
  const acknowledged = real.readUInt32BE(16)
  raw.inject(chunk(CHUNK.sack, Buffer.concat([words(acknowledged + 1000, 1e6), halves(0, 0)])))
  raw.inject(chunk(CHUNK.sack, Buffer.concat([words(acknowledged, 1e6), halves(1, 0, 2, 65_535)])))
  await raw.settle()
  assert.deepEqual(raw.faults, ['sack', 'sack'])
  await assertWorks(raw)
})

test('a closed receive window is probed', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  const acknowledged = raw.up.findLast((p) => p[12] === CHUNK.sack)!.readUInt32BE(16)
  const windowed = chunk(CHUNK.sack, Buffer.concat([words(acknowledged, 0), halves(0, 0)]))
  raw.inject(windowed)
  await raw.settle()
  assert.ok(raw.server.send('one'))
  assert.ok(raw.server.send('two'))
  await raw.settle()
  assert.equal(raw.heard.includes('0:51:one'), false)
  // The peer's announcement that it is open again is lost; another SACK that says closed comes.
  raw.inject(windowed)
  await until(() => raw.heard.at(-1) === '0:51:two', 'both messages')
})

test('more than sixteen channels: the next is reset', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  for (let id = 2; id <= 2 * MAX_CHANNELS; id += 2) raw.openChannel(id, `c${id}`)
  await until(() => raw.faults.length > 0 && raw.resets.length > 0, 'a refusal')
  assert.equal(raw.opened.length, MAX_CHANNELS)
  assert.deepEqual(raw.faults, ['too_many_channels'])
  assert.deepEqual(raw.resets[0], [2 * MAX_CHANNELS])
  await assertWorks(raw)
})

test('a message over 256 KB ends the association', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  void raw.peer.send(0, PPID.text, Buffer.alloc(262_145, 97))
  await until(() => raw.ended.server === 1, 'the end')
  assert.deepEqual([raw.faults, raw.messages, raw.server.open], [['message_too_large'], [], false])
})

test('the peer closes its channel: told once, after what was sent before', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  // The last message comes late: the reset must wait for it.
  let held: Buffer | undefined
  raw.passUp = (p) => {
    if (p[12] !== CHUNK.data || held) return true
    held = p
    return false
  }
  void raw.peer.send(0, PPID.text, Buffer.from('goodbye'))
  await raw.settle()
  raw.peer.resetStream(0)
  await raw.settle()
  assert.equal(raw.ended.server, 0)
  raw.server.receive(held!)
  await until(() => raw.ended.server === 1, 'the close')
  assert.deepEqual(raw.messages, ['goodbye'])
  assert.deepEqual([raw.server.open, raw.server.send('x')], [false, false])
  await until(() => raw.resets.length > 0, 'our side reset too')
  raw.openChannel(2, 'again')
  await until(() => raw.server.open, 'another channel')
})

test('a repeated reset request is answered, not obeyed again', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  raw.peer.resetStream(0)
  await until(() => raw.ended.server === 1, 'the close')
  const request = raw.up.find((p) => p[12] === CHUNK.reconfig)!
  await raw.settle()
  raw.openChannel(0, 'again')
  await until(() => raw.server.open, 'open again')
  const answers = raw.down.length
  raw.server.receive(Buffer.from(request))
  await raw.settle()
  assert.equal(raw.server.open, true)
  assert.ok(raw.down.slice(answers).some((p) => p[12] === CHUNK.reconfig))
})

for (const [what, type, body] of [
  ['ABORT', CHUNK.abort, Buffer.alloc(0)],
  ['SHUTDOWN', CHUNK.shutdown, words(0)],
] as const) {
  test(`${what} ends the association, once, without a timer left`, async (t) => {
    const timeouts = (): number => process.getActiveResourcesInfo().filter((r) => r === 'Timeout').length
    const raw = await connected()
    t.after(() => raw.close())
    raw.server.send('in flight')
    raw.inject(chunk(type, body))
    raw.inject(chunk(type, body))
    await until(() => raw.ended.server === 1, 'the end')
    raw.peer.close()
    await raw.settle()
    assert.deepEqual([raw.ended.server, raw.server.open, timeouts()], [1, false, 0])
    const answer = raw.down.some((p) => p[12] === CHUNK.shutdownAck)
    assert.equal(answer, type === CHUNK.shutdown)
  })
}

test('data on ever more streams, and ever more data far ahead, are bounded', async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  const last = raw.up.findLast((p) => p[12] === CHUNK.data)!.readUInt32BE(16)
  for (let i = 2; i < 20_000; i += 7) raw.inject(data(last + i, 0, i, PPID.text, Buffer.alloc(1000)))
  await raw.settle()
  assert.equal(raw.ended.server, 0)
  for (let i = 0; i < 200; i++) {
    raw.inject(data(last + 1 + i, 100 + i, 0, PPID.text, text))
    await raw.settle()
  }
  assert.ok(raw.faults.includes('overflow'))
  assert.equal(raw.ended.server, 1)
})

test('200,000 mutated packets in a live association, which goes on', { timeout: 120_000 }, async (t) => {
  const raw = await connected()
  t.after(() => raw.close())
  await assertWorks(raw)
  const random = seeded(3)
  const genuine = raw.up.map((p) => Buffer.from(p))
  for (let i = 0; i < 200_000; i++) {
    const mutated = Buffer.from(genuine[i % genuine.length]!)
    for (let n = 1 + Math.floor(random() * 6); n > 0; n--) {
      mutated[Math.floor(random() * mutated.length)] = Math.floor(random() * 256)
    }
    // Half of them have a wrong checksum, half a right one and another association's tag.
    if (i % 2) mutated.writeUInt32BE(Math.floor(random() * 2 ** 32), 4)
    raw.server.receive(i % 2 ? sealed(mutated) : mutated)
    if (i % 200 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await raw.settle()
  await assertWorks(raw)
})

test('mutated packets with the right tag and checksum: no throw, no loop, bounded', {
  timeout: 120_000,
}, async () => {
  const random = seeded(11)
  let ended = 0
  for (let round = 0; round < 40; round++) {
    const raw = await connected()
    const genuine = [
      ...raw.up.filter((p) => p[12] !== CHUNK.init).map((p) => p.subarray(12)),
      chunk(CHUNK.reconfig, parameter(13, Buffer.concat([words(1, 2, 3), halves(4)]))),
      chunk(CHUNK.forwardTsn, Buffer.concat([words(9), halves(1, 2)])),
      chunk(CHUNK.error, parameter(3, [1, 2, 3, 4])),
      chunk(CHUNK.heartbeat, parameter(1, [1, 2, 3, 4])),
    ]
    for (let i = 0; i < 2500; i++) {
      const mutated = Buffer.from(genuine[i % genuine.length]!)
      for (let n = 1 + Math.floor(random() * 4); n > 0; n--) {
        mutated[Math.floor(random() * mutated.length)] = Math.floor(random() * 256)
      }
      raw.inject(mutated)
      if (i % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await raw.settle()
    ended += raw.ended.server
    raw.close()
    await raw.settle()
    assert.equal(process.getActiveResourcesInfo().includes('Timeout'), false)
  }
  assert.ok(ended < 40 * 2)
})
