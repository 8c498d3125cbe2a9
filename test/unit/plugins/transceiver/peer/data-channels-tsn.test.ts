import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataChannels } from '../../../../../plugins/transceiver/peer/data-channels.ts'
import { PPID, writeDcepOpen } from '../../../../../plugins/transceiver/peer/dcep.ts'
import { CHUNK } from '../../../../../plugins/transceiver/peer/sctp-guard.ts'
import { until } from './channel-pair.ts'
import { chunk, data, halves, packet, words } from './sctp-packets.ts'

/** A server whose peer is this test, by hand, from an initial TSN of the test's choice. */
async function handshake(initialTsn: number): Promise<{
  server: DataChannels
  messages: (string | Uint8Array)[]
  give: (...chunks: Buffer[]) => void
  lastSack: () => Buffer | undefined
}> {
  const messages: (string | Uint8Array)[] = []
  const sent: Buffer[] = []
  const server = new DataChannels({
    role: 'server',
    remotePort: 5000,
    maxMessageSize: 1000,
    send: (bytes) => sent.push(Buffer.from(bytes)),
    onOpen: () => {},
    onMessage: (_label, message) => messages.push(message),
    onClose: () => {},
    onFault: (reason) => messages.push(`fault: ${reason}`),
  })
  server.receive(
    packet(0, chunk(CHUNK.init, Buffer.concat([words(77, 1e6), halves(10, 10), words(initialTsn)]))),
  )
  await until(() => sent.length === 1, 'an INIT ACK')
  const ack = sent[0]!
  const tag = ack.readUInt32BE(16)
  // Its last parameter is the cookie.
  const cookie = ack.subarray(ack.lastIndexOf(Buffer.from([0, 7, 0, 28])) + 4)
  const give = (...chunks: Buffer[]): void => server.receive(packet(tag, ...chunks))
  give(chunk(CHUNK.cookieEcho, cookie.subarray(0, 24)), data(initialTsn, 0, 0, PPID.dcep, writeDcepOpen('c')))
  await until(() => server.open, 'open')
  return { server, messages, give, lastSack: () => sent.findLast((p) => p[12] === CHUNK.sack) }
}

for (const [what, first] of [
  ['across a power of ten', 999_999_998],
  ['across the end of the 32 bits', 2 ** 32 - 2],
  ['from 0', 0],
] as const) {
  test(`werift fault 18: messages that overtake each other ${what}`, async (t) => {
    const { server, messages, give, lastSack } = await handshake(first)
    t.after(() => server.close())
    const message = (i: number): Buffer => data(first + i, 0, i, PPID.text, Buffer.from(`m${i}`))
    give(message(3))
    give(message(2))
    give(message(1))
    give(message(4))
    await until(() => messages.length === 4, 'four messages')
    assert.deepEqual(messages, ['m1', 'm2', 'm3', 'm4'])
    await until(() => lastSack()?.readUInt32BE(16) === (first + 4) >>> 0, 'their acknowledgement')
    assert.deepEqual([lastSack()!.readUInt16BE(24), lastSack()!.readUInt16BE(26)], [0, 0])
  })
}

test("a message is not kept back when another stream's lies between", async (t) => {
  const { server, messages, give } = await handshake(100)
  t.after(() => server.close())
  give(data(102, 2, 0, PPID.dcep, writeDcepOpen('d')))
  give(data(103, 0, 2, PPID.text, Buffer.from('second')))
  give(data(101, 0, 1, PPID.text, Buffer.from('first')))
  await until(() => messages.length === 2, 'two messages')
  assert.deepEqual(messages, ['first', 'second'])
})
