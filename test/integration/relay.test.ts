/** The relay on real sockets: client → relay → transceiver → relay → client. */

import assert from 'node:assert/strict'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, describe, test } from 'node:test'
import {
  Address,
  EdgeError,
  parseAddress,
  type RoutingCodec,
  readSpp,
  SPP_LENGTH,
  toAddress,
  writeSpp,
} from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { pluginContext } from '../../core/testing/plugin-context.ts'
import type { ListenOption } from '../../plugins/relay/listen-option.ts'
import { type Relay, startRelay } from '../../plugins/relay/relay.ts'
import { bindingRequest, stunMessage } from '../stun-bytes.ts'
import { oneRoute } from './support/one-route-codec.ts'
import { bound, total, WAYS, type Way } from './support/relay-ways.ts'

const MEDIA = Buffer.from([0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xfc])

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function socket(host: string): Promise<Socket> {
  const udp = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  udp.bind(0, host)
  await once(udp, 'listening')
  open.push(() => udp.close())
  return udp
}

/** The next datagram, and where it came from. */
async function next(udp: Socket): Promise<{ bytes: Buffer; from: string }> {
  const [bytes, from]: [Buffer, RemoteInfo] = await once(udp, 'message', {
    signal: AbortSignal.timeout(5_000),
  }).then(([b, f]) => [b, f])
  return { bytes, from: String(toAddress(from.address, from.port)) }
}

async function start(way: Way, listen: ListenOption, upstream: string, codec: RoutingCodec): Promise<Relay> {
  const { context } = pluginContext({ udp: way.udp })
  const cidrs = upstream.startsWith('[') ? ['::1/128'] : ['127.0.0.0/8']
  const allow = { cidrs, ports: '1-65535' }
  const options = { ...way.options, listen, upstream, allow, maxFlows: 64 }
  const relay = await startRelay(options, { codec, recovery: undefined }, context, 7)
  open.push(() => relay.close())
  return relay
}

/** A check up, its success down, media both ways; asserts the addresses on each leg. */
async function converse(relay: Relay, local: number, transceiver: Socket, client: Socket): Promise<void> {
  const proxy = relay.locals[local]!
  const { local: at } = bound(relay, local)
  const own = client.address()
  const clientAddress = toAddress(own.address, own.port)!
  for (const [up, down] of [
    [bindingRequest('call1:client'), stunMessage(0x0101, [])],
    [MEDIA, MEDIA],
  ] as const) {
    const arrived = next(transceiver)
    client.send(up, at.port, at.host)
    const { bytes, from } = await arrived
    const framedClient = new Address()
    const framedProxy = new Address()
    assert.ok(readSpp(bytes, 0, bytes.length, framedClient, framedProxy))
    assert.deepEqual([String(framedClient), String(framedProxy)], [String(clientAddress), String(proxy)])
    assert.deepEqual(bytes.subarray(SPP_LENGTH), up)
    const upstream = parseAddress(from)!
    assert.ok(relay.workers.some(({ sockets }) => sockets.upstream.local.port === upstream.port))
    const answer = Buffer.concat([Buffer.alloc(SPP_LENGTH), down])
    writeSpp(answer, 0, framedClient, framedProxy)
    const back = next(client)
    transceiver.send(answer, upstream.port, upstream.host)
    assert.deepEqual(await back, { bytes: down, from: String(at) })
  }
}

async function transceiverAt(host: string): Promise<{ transceiver: Socket; codec: RoutingCodec }> {
  const transceiver = await socket(host)
  return { transceiver, codec: oneRoute(toAddress(host, transceiver.address().port)!) }
}

for (const way of WAYS)
  describe(`a relay ${way.name}`, way.needs, () => {
    test('a conversation over IPv4, and the counters of it', async () => {
      const { transceiver, codec } = await transceiverAt('127.0.0.1')
      const relay = await start(way, ['127.0.0.1:0'], '127.0.0.1:0', codec)
      await converse(relay, 0, transceiver, await socket('127.0.0.1'))
      const counts = total(relay, ({ counters: { packetsUp, packetsDown, bytesUp }, flows }) => [
        packetsUp,
        packetsDown,
        bytesUp,
        flows.confirmed,
      ])
      assert.deepEqual(counts, [2, 2, bindingRequest('call1:client').length + 13, 1])
    })

    test('a conversation over IPv6', async (t) => {
      const probe = await socket('::1').catch(() => undefined)
      if (!probe) return t.skip('this machine has no ::1')
      const { transceiver, codec } = await transceiverAt('::1')
      const relay = await start(way, ['[::1]:0'], '[::1]:0', codec)
      await converse(relay, 0, transceiver, await socket('::1'))
    })

    test('an IPv4 client over a dual-stack upstream socket', async (t) => {
      const probe = await socket('::1').catch(() => undefined)
      if (!probe) return t.skip('this machine has no ::1')
      const { transceiver, codec } = await transceiverAt('::1')
      const relay = await start(way, ['127.0.0.1:0'], '[::]:0', codec)
      await converse(relay, 0, transceiver, await socket('127.0.0.1'))
    })

    test('0.0.0.0 is bound address by address, and replies leave from the one that the client sent to', async () => {
      const { transceiver, codec } = await transceiverAt('127.0.0.1')
      const relay = await start(way, ['0.0.0.0:0', '127.0.0.2:0'], '0.0.0.0:0', codec)
      assert.ok(relay.locals.every((local) => !local.isUnspecified && local.isIPv4))
      const local = relay.locals.findIndex(({ host }) => host === '127.0.0.1')
      const named = relay.locals.findIndex(({ host }) => host === '127.0.0.2')
      await converse(relay, named, transceiver, await socket('127.0.0.1'))
      await converse(relay, local, transceiver, await socket('127.0.0.1'))
    })

    test('a socket that clients know by a load balancer’s address: the transceiver hears of that one', async () => {
      const { transceiver, codec } = await transceiverAt('127.0.0.1')
      const advertise = '203.0.113.10:3478'
      const relay = await start(way, [{ bind: '127.0.0.1:0', advertise }], '127.0.0.1:0', codec)
      assert.deepEqual(relay.ingress.map(String), [advertise])
      await converse(relay, 0, transceiver, await socket('127.0.0.1'))
      assert.equal(relay.workers[0]!.state.allowed.refusal(1, parseAddress(advertise)!), 'own_address')
    })

    test('the largest datagram passes, larger ones and garbage are counted, and the call goes on', async () => {
      const { transceiver, codec } = await transceiverAt('127.0.0.1')
      const relay = await start(way, ['127.0.0.1:0'], '127.0.0.1:0', codec)
      const client = await socket('127.0.0.1')
      await converse(relay, 0, transceiver, client)
      const { port } = relay.locals[0]!
      const send = (bytes: Buffer): void => client.send(bytes, port, '127.0.0.1')
      for (const length of [0, 2_011, 2_048, 2_049, 9_000]) send(Buffer.alloc(length, 0x80))
      send(Buffer.alloc(30, 0x56))
      await eventually('all were read', () => {
        const { received, truncated } = bound(relay, 0).counters()
        return received === 6 && truncated === 2
      })
      const drops = total(relay, ({ counters: { drops } }) => [
        drops.of('empty'),
        drops.of('oversize'),
        drops.of('framing'),
      ])
      assert.deepEqual(drops, [1, 2, 1])
      const arrived = next(transceiver)
      send(Buffer.alloc(2_010, 0x80))
      assert.equal((await arrived).bytes.length, 2_048)
      await converse(relay, 0, transceiver, client)
    })
  })

for (const way of WAYS)
  describe(`a start that fails ${way.name}`, way.needs, () => {
    test('names the address in use and leaves no socket open', async () => {
      const { port } = (await socket('127.0.0.1')).address()
      const free = await socket('127.0.0.1')
      const freePort = free.address().port
      open.splice(1)
      free.close()
      await once(free, 'close')
      const codec = oneRoute(parseAddress('127.0.0.1:1')!)
      await assert.rejects(
        start(way, [`127.0.0.1:${freePort}`], `127.0.0.1:${port}`, codec),
        (error) =>
          error instanceof EdgeError && error.code === 'address_in_use' && error.message.includes(`${port}`),
      )
      const again = createSocket('udp4').bind(freePort, '127.0.0.1')
      await once(again, 'listening')
      again.close()
    })
    test('names an address that is not of this machine', async () => {
      await assert.rejects(
        start(way, ['203.0.113.77:0'], '127.0.0.1:0', oneRoute(parseAddress('127.0.0.1:1')!)),
        (error) => error instanceof EdgeError && error.code === 'address_unavailable',
      )
    })
  })
