import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CHUNK, guardSctp } from '../../../../../plugins/transceiver/peer/sctp-guard.ts'
import { SctpOutbound } from '../../../../../plugins/transceiver/peer/sctp-outbound.ts'
import { makePair, until } from './channel-pair.ts'
import { chunk, data } from './sctp-packets.ts'

const MTU = 200

function outbound() {
  const packets: Buffer[] = []
  const faults: string[] = []
  const out = new SctpOutbound({
    localPort: 5000,
    remotePort: 6000,
    mtu: MTU,
    send: (packet) => packets.push(packet),
    onFault: (reason) => faults.push(reason),
  })
  return { out, packets, faults, say: (bytes: Buffer, tag = 7) => out.send({ type: bytes[0]!, bytes }, tag) }
}

/** The types of a packet's chunks. */
function types(packet: Buffer): number[] {
  const found: number[] = []
  for (let at = 12; at < packet.length; at += (packet.readUInt16BE(at + 2) + 3) & ~3) found.push(packet[at]!)
  return found
}

const dataOf = (tsn: number, size = 4) => data(tsn, 1, 0, 51, Buffer.alloc(size, tsn))
const sack = chunk(CHUNK.sack, Buffer.alloc(12))
const cookieAck = chunk(CHUNK.cookieAck, [])
const reconfig = chunk(CHUNK.reconfig, [])

test('without holding each chunk leaves at once, in a packet of its own that is whole', () => {
  const { packets, say } = outbound()
  for (const one of [dataOf(1), sack, cookieAck, reconfig]) say(one, 0xfedcba98)
  assert.deepEqual(packets.map(types), [[CHUNK.data], [CHUNK.sack], [CHUNK.cookieAck], [CHUNK.reconfig]])
  for (const packet of packets) {
    assert.equal(guardSctp(packet), packet)
    assert.equal(packet.readUInt16BE(0), 5000)
    assert.equal(packet.readUInt16BE(2), 6000)
    assert.equal(packet.readUInt32BE(4), 0xfedcba98)
  }
})

test('what is held leaves together, SACK and COOKIE ACK in front, data in its order', () => {
  const { out, packets, say } = outbound()
  out.hold()
  for (const one of [dataOf(1), cookieAck, dataOf(2), sack]) say(one)
  assert.equal(packets.length, 0)
  out.release()
  assert.deepEqual(packets.map(types), [[CHUNK.cookieAck, CHUNK.sack, CHUNK.data, CHUNK.data]])
  assert.equal(guardSctp(packets[0]!), packets[0])
  assert.ok(packets[0]!.includes(Buffer.concat([dataOf(1), dataOf(2)])))
  out.release()
  say(sack)
  assert.equal(packets.length, 2, 'and afterwards nothing is held')
})

test('other chunks travel alone, behind what was before them', () => {
  const { out, packets, say } = outbound()
  out.hold()
  for (const one of [dataOf(1), sack, reconfig, dataOf(2), chunk(CHUNK.initAck, Buffer.alloc(16)), sack])
    say(one)
  out.release()
  assert.deepEqual(packets.map(types), [
    [CHUNK.sack, CHUNK.data],
    [CHUNK.reconfig],
    [CHUNK.data],
    [CHUNK.initAck],
    [CHUNK.sack],
  ])
})

test('a change of tag, or a full packet, begins another; a chunk over the MTU is a fault', () => {
  const { out, packets, faults, say } = outbound()
  out.hold()
  say(dataOf(1), 1)
  say(dataOf(2), 2)
  say(dataOf(3, 140), 2)
  say(dataOf(4, 100), 2)
  say(dataOf(5, MTU), 2)
  out.release()
  assert.deepEqual(
    packets.map((packet) => packet.readUInt32BE(4)),
    [1, 2, 2],
  )
  assert.deepEqual(
    packets.map((packet) => types(packet).length),
    [1, 2, 1],
  )
  assert.deepEqual(faults, ['packet_too_large'])
})

test('whatever is sent arrives whole, in order, within the MTU, and no packet could have held the next', () => {
  const chunks = fc.array(
    fc.oneof(
      fc.nat(120).map((n) => dataOf(n, n)),
      fc.constantFrom(sack, cookieAck, reconfig),
    ),
  )
  fc.assert(
    fc.property(chunks, (list) => {
      const { out, packets, faults, say } = outbound()
      out.hold()
      for (const one of list) say(one)
      out.release()
      assert.deepEqual(faults, [])
      const ofType = (type: number) => packets.flatMap(types).filter((one) => one === type).length
      for (const type of [CHUNK.data, CHUNK.sack, CHUNK.cookieAck, CHUNK.reconfig]) {
        assert.equal(ofType(type), list.filter((one) => one[0] === type).length)
      }
      const sentData = Buffer.concat(list.filter((one) => one[0] === CHUNK.data))
      let arrived = Buffer.alloc(0)
      for (const packet of packets) {
        assert.ok(packet.length <= MTU)
        for (let at = 12; at < packet.length; ) {
          const end = at + ((packet.readUInt16BE(at + 2) + 3) & ~3)
          if (packet[at] === CHUNK.data) arrived = Buffer.concat([arrived, packet.subarray(at, end)])
          at = end
        }
      }
      assert.deepEqual(arrived, sentData)
    }),
  )
})

test('an answer and the acknowledgement of its question are one packet', async (t) => {
  const pair = makePair({
    client: { offer: 'c' },
    server: { onMessage: () => void pair.server.channels.send('answer') },
  })
  t.after(() => pair.close())
  const { client, server } = pair
  await until(() => client.channels.open && server.channels.open && !server.channels.waiting, 'quiet')
  const before = server.sent
  const down: number[][] = []
  pair.tap = (packet, to) => {
    if (to === 'client') down.push(types(packet))
    return packet
  }
  assert.ok(client.channels.send('question'))
  await until(() => client.messages.length === 1 && !server.channels.waiting, 'the answer')
  assert.deepEqual(down, [[CHUNK.sack, CHUNK.data]])
  assert.equal(server.sent - before, 1)
})
