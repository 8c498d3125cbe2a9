/**
 * What the relay rests on breaks its contract in mid-call: a codec that throws, a store that throws, rejects or answers
 * nonsense, a socket that throws. The datagram at hand may be lost; the relay, its process and every other call go on.
 */

import assert from 'node:assert/strict'
import { afterEach, it } from 'node:test'
import {
  Address,
  type RecoveryStore,
  type RoutingCodec,
  readSpp,
  SPP_LENGTH,
  type UdpEngine,
  type UdpPort,
  writeSpp,
} from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { pluginContext } from '../../core/testing/plugin-context.ts'
import { dgramEngine } from '../../core/udp/dgram-engine.ts'
import { type Relay, startRelay } from '../../plugins/relay/relay.ts'
import { bindingRequest, stunMessage } from '../stun-bytes.ts'
import { IN_EVENT_LOOP } from './support/relay-ways.ts'
import { Stranger } from './support/stranger.ts'

const MEDIA = Buffer.from([0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xfc])
const PACKETS = 20

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A transceiver that answers a check with a success and everything else with itself. */
async function transceiver(): Promise<UdpPort> {
  const client = new Address()
  const proxy = new Address()
  const port: UdpPort = await dgramEngine.open({
    address: new Address().set(0, 0, 0xffff, 0x7f000001, 0),
    onDatagram: ({ bytes, start, end, source }) => {
      if (!readSpp(bytes, start, end, client, proxy)) return
      const isStun = bytes[start + SPP_LENGTH]! < 4
      const payload = isStun ? stunMessage(0x0101, []) : Buffer.from(bytes.subarray(start + SPP_LENGTH, end))
      const answer = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
      writeSpp(answer, 0, client, proxy)
      port.send(answer, 0, answer.length, source)
    },
  })
  closing.push(() => port.close())
  return port
}

interface Parts {
  readonly codec?: (text: string) => void
  readonly store?: RecoveryStore
  readonly udp?: UdpEngine
}

/** A relay; every ufrag leads to one transceiver unless `codec` throws at it. */
async function start({ codec: look = () => {}, store, udp = dgramEngine }: Parts): Promise<Relay> {
  const { local } = await transceiver()
  const codec: RoutingCodec = {
    encode: () => 'call1',
    decode(text, start, end) {
      look(Buffer.from(text.subarray(start, end)).toString())
      return { cluster: 1, address: local, session: Buffer.alloc(8, 1) }
    },
  }
  const options = {
    listen: ['127.0.0.1:0'],
    upstream: '127.0.0.1:0',
    allow: { cidrs: ['127.0.0.0/8'], ports: '1-65535' },
    maxFlows: 64,
    ...IN_EVENT_LOOP,
  }
  const relay = await startRelay(options, { codec, recovery: store }, pluginContext({ udp }).context, 7)
  closing.push(() => relay.close())
  return relay
}

async function client(relay: Relay): Promise<Stranger> {
  const stranger = await Stranger.open(relay.workers[0]!.sockets.publics[0]!.local)
  closing.push(() => stranger.close())
  return stranger
}

/** A check and packets of media, all of which come back. */
async function assertWhole(caller: Stranger, ufrag: string): Promise<void> {
  const before = caller.received.length
  caller.send(bindingRequest(`${ufrag}:client`))
  await eventually('the check is answered', () => caller.received.length === before + 1)
  for (let n = 0; n < PACKETS; n++) caller.send(MEDIA)
  await eventually('all came back', () => caller.received.length === before + 1 + PACKETS)
}

const broken = (): never => {
  throw new Error('broken')
}

it('a codec that throws costs the datagram that it threw at', async () => {
  const relay = await start({ codec: (ufrag) => void (ufrag === 'evil' && broken()) })
  const [good, evil] = [await client(relay), await client(relay)]
  await assertWhole(good, 'call1')
  const { counters } = relay.workers[0]!.sockets.publics[0]!
  for (let n = 0; n < 5; n++) evil.send(bindingRequest('evil:client'))
  await eventually('all five are counted as lost', () => counters.receiveErrors === 5)
  await assertWhole(good, 'call1')
  assert.equal(evil.received.length, 0)
  await assertWhole(evil, 'call2')
})

it('a store that throws, rejects and answers nonsense costs nothing but recovery', async () => {
  const answers: (() => ReturnType<RecoveryStore['recall']>)[] = [
    broken,
    () => Promise.reject(new Error('down')),
    async () => JSON.parse('{}'),
    async () => JSON.parse('{ "cluster": 1, "transceiver": "10.0.0.1:3479" }'),
    async () => JSON.parse('7'),
  ]
  let asked = 0
  const recall = (): ReturnType<RecoveryStore['recall']> => answers[asked++]!()
  const relay = await start({ store: { remember: broken, forget: broken, recall } })
  const good = await client(relay)
  await assertWhole(good, 'call1')
  const strays = []
  for (const _ of answers) {
    const stray = await client(relay)
    stray.send(MEDIA)
    strays.push(stray)
  }
  const { counters } = relay.recovery!
  await eventually(
    'each look-up has come to nothing',
    () => counters.failed + counters.refused === answers.length,
  )
  await assertWhole(good, 'call1')
  for (const stray of strays) await assertWhole(stray, 'call2')
})

it('a socket that throws costs the datagrams that it threw at', async () => {
  let throws = false
  const engine: UdpEngine = {
    name: 'dgram',
    async open(options) {
      const port = await dgramEngine.open(options)
      return {
        local: port.local,
        counters: port.counters,
        close: () => port.close(),
        send: (bytes, start, end, to) => (throws ? broken() : port.send(bytes, start, end, to)),
      }
    },
  }
  const relay = await start({ udp: engine })
  const caller = await client(relay)
  await assertWhole(caller, 'call1')
  throws = true
  for (let n = 0; n < PACKETS; n++) caller.send(MEDIA)
  const { counters } = relay.workers[0]!.sockets.publics[0]!
  await eventually('they are counted as lost', () => counters.receiveErrors === PACKETS)
  throws = false
  await assertWhole(caller, 'call1')
})
