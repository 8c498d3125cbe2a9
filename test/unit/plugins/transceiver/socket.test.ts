import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Framing,
  framing,
  HEAD_ROOM,
  MAX_DATAGRAM,
  opensslProblem,
  parseCidr,
  plainFraming,
  readSpp,
  SPP_LENGTH,
  writeSpp,
} from '../../../../core/index.ts'
import { MemoryNetwork } from '../../../../core/testing/memory-udp.ts'
import type { Path } from '../../../../plugins/transceiver/ice/path.ts'
import { type SocketReceiver, TransceiverSocket } from '../../../../plugins/transceiver/socket.ts'
import { address } from './ice/support.ts'

const NO_DROPS = {
  untrusted: 0,
  unframed: 0,
  empty: 0,
  unknown: 0,
  mac_missing: 0,
  mac_key: 0,
  mac_wrong: 0,
}
const KEY = { id: 7, key: 'ab'.repeat(32) }
const OURS = address('10.0.0.5:3479')
const RELAY = address('10.0.0.4:3480')
const PUBLIC = address('203.0.113.1:3478')
const CLIENT = address('198.51.100.7:40000')

class Receiver implements SocketReceiver {
  readonly got: string[] = []
  readonly receiveStun = this.#note('stun')
  readonly receiveDtls = this.#note('dtls')
  readonly receiveMedia = this.#note('media')

  #note(kind: string) {
    return (bytes: Buffer, start: number, end: number, { relay, local, client }: Path): void => {
      const payload = bytes.toString('hex', start, end)
      this.got.push(`${kind} ${payload} ${client} → ${local} by ${relay ?? 'nobody'}`)
    }
  }
}

async function open(options: { relays?: string[]; direct?: boolean; framing?: Framing } = {}) {
  const network = new MemoryNetwork('explicit')
  const receiver = new Receiver()
  const { relays = ['10.0.0.0/24', 'fd00::/8'], direct = false, framing = plainFraming } = options
  const socket = await TransceiverSocket.open(
    {
      engine: network.engine,
      address: OURS,
      relays: relays.flatMap((one) => parseCidr(one) ?? []),
      direct,
      framing,
    },
    receiver,
  )
  const send = (bytes: Uint8Array, from = RELAY): void => {
    network.inject(bytes, from, OURS)
    network.deliver()
  }
  return { network, receiver, socket, send }
}

function framed(payload: readonly number[], client = CLIENT, local = PUBLIC): Buffer {
  const bytes = Buffer.alloc(SPP_LENGTH + payload.length)
  writeSpp(bytes, 0, client, local)
  bytes.set(payload, SPP_LENGTH)
  return bytes
}

describe("the transceiver's socket", () => {
  it('sorts by the first byte behind the framing', async () => {
    const { receiver, send, socket } = await open()
    for (const first of [0, 3, 20, 63, 128, 191]) send(framed([first, 7]))
    for (const first of [4, 19, 64, 127, 192, 255, 0x56]) send(framed([first, 7]))
    const way = `${CLIENT} → ${PUBLIC} by ${RELAY}`
    assert.deepEqual(receiver.got, [
      `stun 0007 ${way}`,
      `stun 0307 ${way}`,
      `dtls 1407 ${way}`,
      `dtls 3f07 ${way}`,
      `media 8007 ${way}`,
      `media bf07 ${way}`,
    ])
    assert.deepEqual(socket.drops, { ...NO_DROPS, unknown: 7 })
  })

  it('takes framing from relays alone, of either family', async () => {
    const { receiver, send, socket } = await open()
    send(framed([0]), address('10.0.1.4:3480'))
    send(framed([0]), address('[fe80::1]:3480'))
    send(framed([0]), address('[fd00::1]:3480'))
    assert.equal(receiver.got.length, 1)
    assert.equal(socket.drops.untrusted, 2)
  })

  it('does not take an IPv4 relay for listed because all of IPv6 is', async () => {
    const { receiver, send, socket } = await open({ relays: ['::/0'] })
    send(framed([0]), RELAY)
    assert.deepEqual([receiver.got.length, socket.drops.untrusted], [0, 1])
    send(framed([0]), address('[2001:db8::1]:1'))
    assert.equal(receiver.got.length, 1)
  })

  it('drops and counts what is bare, empty, short or framed wrongly', async () => {
    const { receiver, send, socket } = await open()
    send(Buffer.of(0, 1, 2))
    send(Buffer.alloc(0))
    send(framed([]))
    send(framed([0]).subarray(0, SPP_LENGTH - 1))
    send(Buffer.concat([Buffer.of(0x56, 0xed), framed([0]).subarray(2)]))
    send(framed([...framed([0])]))
    assert.deepEqual(receiver.got, [])
    assert.deepEqual(socket.drops, { ...NO_DROPS, unframed: 1, empty: 1, unknown: 4 })
  })

  it('takes bare packets where that is wanted, and framed ones still', async () => {
    const { receiver, send } = await open({ direct: true })
    send(Buffer.of(22, 1), CLIENT)
    send(framed([22, 2]))
    assert.deepEqual(receiver.got, [
      `dtls 1601 ${CLIENT} → ${OURS} by nobody`,
      `dtls 1602 ${CLIENT} → ${PUBLIC} by ${RELAY}`,
    ])
  })

  it('answers the way a packet came', async () => {
    const { network, socket } = await open()
    const room = Buffer.alloc(HEAD_ROOM + 3, 9)
    socket.send(Buffer.of(1, 2, 3, 4), 1, 4, { relay: RELAY, local: PUBLIC, client: CLIENT })
    socket.sendInPlace(room, HEAD_ROOM, HEAD_ROOM + 3, { relay: RELAY, local: PUBLIC, client: CLIENT })
    socket.send(Buffer.of(1, 2, 3, 4), 1, 4, { relay: undefined, local: OURS, client: CLIENT })
    const [first, second, third] = network.inFlight
    const [client, proxy] = [address('0.0.0.0:0'), address('0.0.0.0:0')]
    assert.ok(first!.to.equals(RELAY) && readSpp(first!.bytes, 0, first!.bytes.length, client, proxy))
    assert.ok(client.equals(CLIENT) && proxy.equals(PUBLIC))
    assert.deepEqual(first!.bytes.subarray(SPP_LENGTH), Buffer.of(2, 3, 4))
    assert.deepEqual(second!.bytes.subarray(SPP_LENGTH), Buffer.of(9, 9, 9))
    assert.ok(third!.to.equals(CLIENT) && third!.bytes.equals(Buffer.of(2, 3, 4)))
  })

  it('sends nothing that is too large, and nothing once it is closed', async () => {
    const { network, socket } = await open()
    const path = { relay: RELAY, local: PUBLIC, client: CLIENT }
    socket.send(Buffer.alloc(MAX_DATAGRAM + 1), 0, MAX_DATAGRAM + 1, path)
    assert.equal(network.inFlight.length, 0)
    socket.send(Buffer.alloc(MAX_DATAGRAM), 0, MAX_DATAGRAM, path)
    assert.equal(network.inFlight.length, 1)
    await socket.close()
    socket.send(Buffer.alloc(1), 0, 1, path)
    assert.equal(network.inFlight.length, 1)
    assert.equal(socket.counters.sendErrors, 1)
  })

  const needs = { skip: opensslProblem()?.message ?? false }

  it(
    'with keys takes frames with a tag alone, counts the others by what is wrong, and tags its own',
    needs,
    async () => {
      const { network, receiver, send, socket } = await open({ framing: framing([KEY], 'down') })
      const relay = framing([KEY], 'up')
      const room = Buffer.alloc(HEAD_ROOM + 1)
      const tagged = (by: Framing): Buffer => {
        by.write(room, HEAD_ROOM, room.length, CLIENT, PUBLIC)
        return Buffer.from(room.subarray(HEAD_ROOM - by.length))
      }
      send(tagged(relay))
      const way = `stun 00 ${CLIENT} → ${PUBLIC} by ${RELAY}`
      assert.deepEqual(receiver.got, [way])
      const altered = tagged(relay)
      altered[altered.length - 1] = 1
      send(altered)
      send(framed([0]))
      send(tagged(framing([{ ...KEY, id: 8 }], 'up')))
      send(tagged(framing([{ id: 7, key: '00'.repeat(32) }], 'up')))
      send(tagged(framing([KEY], 'down')))
      send(tagged(relay), address('10.0.1.4:3480'))
      assert.deepEqual(receiver.got, [way])
      assert.deepEqual(socket.drops, { ...NO_DROPS, untrusted: 1, mac_missing: 1, mac_key: 1, mac_wrong: 3 })
      socket.send(Buffer.of(1, 2, 3), 0, 3, { relay: RELAY, local: PUBLIC, client: CLIENT })
      const [answer] = network.inFlight
      const [client, proxy] = [address('0.0.0.0:0'), address('0.0.0.0:0')]
      assert.equal(relay.read(answer!.bytes, 0, answer!.bytes.length, client, proxy), undefined)
      assert.deepEqual([String(client), String(proxy)], [String(CLIENT), String(PUBLIC)])
    },
  )
})
