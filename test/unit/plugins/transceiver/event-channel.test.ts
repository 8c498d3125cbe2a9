import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../../core/index.ts'
import { EventChannel } from '../../../../plugins/transceiver/event-channel.ts'
import { PACKETS_AT_ONCE } from '../../../../plugins/transceiver/packet-budget.ts'
import { DataChannels, type DataChannelsOptions } from '../../../../plugins/transceiver/peer/data-channels.ts'
import { until } from './peer/channel-pair.ts'

/** Our channel and a client's, joined. */
class Pair implements Disposable {
  readonly events: { readonly event: JsonObject; readonly characters: number }[] = []
  readonly heard: (string | Uint8Array)[] = []
  readonly faults: string[] = []
  opened = 0
  closed = 0
  now = (): number => performance.now()
  readonly channel: EventChannel
  readonly client: DataChannels

  constructor(maxMessageSize = 65_536, options: Partial<DataChannelsOptions> = {}) {
    this.channel = new EventChannel({
      role: 'server',
      offered: { mid: '1', sctpPort: 5000, maxMessageSize },
      send: (packet) => later(packet, (bytes) => this.client.receive(bytes)),
      onOpen: () => this.opened++,
      onEvent: (event, characters) => this.events.push({ event, characters }),
      onClose: () => this.closed++,
      onFault: (fault) => this.faults.push(fault),
    })
    this.client = new DataChannels({
      role: 'client',
      remotePort: 5000,
      maxMessageSize: 262_144,
      offer: 'oai-events',
      send: (packet) => later(packet, (bytes) => this.channel.receive(this.now(), bytes)),
      onOpen: () => {},
      onMessage: (_label, data) => this.heard.push(data),
      onClose: () => {},
      onFault: (fault) => this.faults.push(fault),
      ...options,
    })
  }

  static async open(maxMessageSize?: number): Promise<Pair> {
    const pair = new Pair(maxMessageSize)
    await until(() => pair.channel.open && pair.client.open, 'open')
    return pair
  }

  /** What came last, as an event. */
  async hear(): Promise<JsonObject> {
    await until(() => this.heard.length > 0, 'an event')
    return JSON.parse(String(this.heard.shift()))
  }

  [Symbol.dispose](): void {
    this.channel.close()
    this.client.close()
  }
}

function later(packet: Uint8Array, carry: (bytes: Buffer) => void): void {
  const copy = Buffer.from(packet)
  setImmediate(() => carry(copy))
}

const codeOf = ({ type, error }: JsonObject): unknown =>
  type === 'error' && typeof error === 'object' && error && 'code' in error ? error.code : undefined

describe('an event channel', () => {
  it('passes JSON objects on, with their length, and nothing else', async () => {
    using pair = await Pair.open()
    assert.equal(pair.opened, 1)
    pair.client.send('{"type":"ä"}')
    await until(() => pair.events.length === 1, 'the event')
    assert.deepEqual(pair.events, [{ event: { type: 'ä' }, characters: 12 }])
    for (const text of ['', 'hello', '[1]', 'null', '{'.repeat(100_000)]) {
      pair.client.send(text)
      assert.equal(codeOf(await pair.hear()), 'bad_request')
    }
    assert.equal(pair.events.length, 1)
  })

  it('takes an event of 256 KB', async () => {
    using pair = await Pair.open()
    const text = JSON.stringify({ text: 'x'.repeat(262_144 - 11) })
    assert.equal(text.length, 262_144)
    pair.client.send(text)
    await until(() => pair.events.length === 1, 'the event')
    assert.equal(pair.events[0]?.characters, 262_144)
  })

  it('sends what fits the offer, to the byte, and says so of what does not', async () => {
    using pair = await Pair.open(1000)
    const fits = JSON.stringify({ a: 'x'.repeat(1000 - 8) })
    assert.equal(fits.length, 1000)
    assert.ok(pair.channel.send(fits))
    assert.deepEqual(JSON.stringify(await pair.hear()), fits)
    assert.ok(pair.channel.send(`${fits} `))
    assert.equal(codeOf(await pair.hear()), 'events_dropped')
    assert.ok(pair.channel.send(JSON.stringify({ a: 'ä'.repeat(497) })), 'bytes count, not characters')
    assert.equal(codeOf(await pair.hear()), 'events_dropped')
    assert.deepEqual(pair.faults, ['message_size', 'message_size'])
    assert.ok(pair.channel.send('{"type":"next"}'))
    assert.deepEqual(await pair.hear(), { type: 'next' })
  })

  it('says when something has not left yet', async () => {
    using pair = await Pair.open(262_144)
    await until(() => !pair.channel.waiting, 'quiet')
    for (let n = 0; n < 4; n++) assert.ok(pair.channel.send(JSON.stringify({ n, text: 'x'.repeat(200_000) })))
    assert.equal(pair.channel.waiting, true)
    assert.equal(pair.channel.send(JSON.stringify({ text: 'x'.repeat(250_000) })), false, 'it is full')
    await until(() => pair.heard.length === 4 && !pair.channel.waiting, 'all have come')
  })

  it('says when something was not acknowledged yet', async () => {
    using pair = await Pair.open()
    await until(() => !pair.channel.waiting, 'quiet')
    assert.ok(pair.channel.send('{"type":"last"}'))
    // What the pair carries takes a turn of the event loop, so nothing can be acknowledged within this one.
    for (let n = 0; n < 100; n++) await null
    assert.equal(pair.channel.waiting, true)
    await until(() => !pair.channel.waiting, 'acknowledged')
    assert.equal(pair.heard.length, 1)
  })

  it('takes no more packets than one call may bring, and loses nothing by that', async () => {
    using pair = await Pair.open()
    pair.now = () => 0
    const sent = PACKETS_AT_ONCE + 100
    for (let n = 0; n < sent; n++) assert.ok(pair.client.send(`{"n":${n}}`))
    await until(() => pair.faults.includes('packet_rate'), 'too many')
    assert.ok(pair.events.length <= PACKETS_AT_ONCE)
    pair.now = () => performance.now()
    await until(() => pair.events.length === sent, 'what was lost is sent again')
  })

  it('is not open before the client’s, nor after its end', async () => {
    const pair = new Pair()
    assert.equal(pair.channel.open, false)
    assert.equal(pair.channel.send('{}'), false)
    await until(() => pair.channel.open, 'open')
    pair.client.close()
    await until(() => pair.closed === 1, 'closed')
    assert.equal(pair.channel.open, false)
    assert.equal(pair.channel.send('{}'), false)
    pair[Symbol.dispose]()
    pair.channel.close()
    assert.equal(pair.closed, 1)
  })
})
