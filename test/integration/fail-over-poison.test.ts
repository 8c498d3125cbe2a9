/**
 * The recovery store says something false of a client: stale, foreign or another's. No packet is ever accepted in the
 * wrong place, nothing is displaced, and the client's next check puts it right at once.
 */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { SPP_LENGTH } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { skipWithout } from '../needs.ts'
import { TestClient } from '../peers/client.ts'
import { RedisServer } from '../peers/redis-server.ts'
import { stunMessage } from '../stun-bytes.ts'
import { at, type Rig, startStore } from '../unit/plugins/redis-recovery/rig.ts'
import { Duplex } from './support/duplex.ts'
import { counted, counter } from './support/metrics.ts'
import { assertPutRight, callWithRedis, poison, unclaimed } from './support/poisoned.ts'
import { Stranger } from './support/stranger.ts'
import { transceiverBehind } from './support/two-relays.ts'

const MEDIA = Buffer.from([0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xfc])
const SUCCESS = stunMessage(0x0101, [])

let redis: RedisServer
let rig: Rig

describe('an entry of the recovery store that is', { skip: skipWithout('redis') }, () => {
  before(async () => {
    redis = await RedisServer.start()
    rig = await startStore({ url: redis.url })
    await rig.connected()
  })
  after(async () => {
    await rig?.[Symbol.asyncDispose]()
    await redis?.[Symbol.asyncDispose]()
  })

  it('stale, its transceiver gone: packets go nowhere until the next check', async () => {
    await using call = await callWithRedis(redis)
    const gone = await Stranger.open(call.b.bound[1]!)
    const address = gone.local.clone()
    await gone.close()
    using talk = await Duplex.begin(call.client, call.transceiver)
    await poison(call, rig, address)
    await counted(call.b, 'relay_recoveries', {}, 1)
    await assertPutRight(call, talk)
    assert.deepEqual((await call.routesOf(call.b)).toSorted(), ['live', 'recovered'])
    await talk.finish()
  })

  it('stale, its call ended: the transceiver takes nothing, and the next call from that address is whole', async () => {
    await using call = await callWithRedis(redis)
    const { hop, b, client, transceiver } = call
    const bind = client.local.clone()
    assert.equal(await transceiver.hangUp(client.url!), 200)
    await client.ended
    await client.close()
    await transceiver.untilIdle()
    call.rehash(b)
    await hop.send(MEDIA)
    await counted(b, 'relay_look_ups', { result: 'hit' }, 1)
    await hop.send(MEDIA)
    await eventually('it got there', async () => (await unclaimed(transceiver)) === 1)
    await using next = await TestClient.connect(transceiver.post, { bind })
    using talk = await Duplex.begin(next, transceiver)
    await talk.exchange(20)
    const account = await talk.finish()
    assert.deepEqual([account.up.lost, account.down.lost], [0, 0])
  })

  it('foreign, outside the allowed CIDRs: refused, and nothing is sent there', async () => {
    await using call = await callWithRedis(redis)
    const { b } = call
    using talk = await Duplex.begin(call.client, call.transceiver)
    await poison(call, rig, at('192.0.2.1:3479'))
    await counted(b, 'relay_look_ups', { result: 'refused' }, 1)
    assert.partialDeepStrictEqual(await b.flows(), { confirmed: 0, unconfirmed: 0 })
    const socket = String(b.bound[1])
    assert.equal(await counter(b, 'relay_socket_datagrams', { socket, direction: 'out' }), 0)
    await assertPutRight(call, talk)
    const { up } = await talk.finish()
    assert.equal(up.lost, await counter(b, 'relay_drops', { reason: 'no_route' }))
  })

  it('foreign, inside the CIDRs but no transceiver: what it says is not believed, by client or relay', async () => {
    await using call = await callWithRedis(redis)
    const { b, client } = call
    await using stranger = await Stranger.open(b.bound[1]!)
    using talk = await Duplex.begin(client, call.transceiver)
    await poison(call, rig, stranger.local)
    await eventually('the stranger gets packets', () => stranger.received.length >= 5)
    const header = stranger.received[0]!.subarray(0, SPP_LENGTH)
    const { strange } = client.transport.checks!.counters
    const say = (): void => {
      for (const lie of [MEDIA, SUCCESS]) stranger.send(Buffer.concat([header, lie]))
    }
    say()
    await eventually('the client refuses it', () => client.media!.refused === 1)
    await eventually('the answer too', () => client.transport.checks!.counters.strange === strange + 1)
    assert.deepEqual(await call.routesOf(b), ['recovered'])
    assert.partialDeepStrictEqual(await b.flows(), { confirmed: 0 })
    await assertPutRight(call, talk)
    say()
    await eventually('the client refuses it again', () => client.media!.refused === 2)
    assert.deepEqual((await call.routesOf(b)).toSorted(), ['live', 'recovered'])
    const { down } = await talk.finish()
    assert.equal(down.lost, 0)
  })

  it('foreign, another transceiver with calls of its own: it takes nothing that is not theirs', async () => {
    await using call = await callWithRedis(redis)
    await using other = await transceiverBehind(call.hop.address)
    await using neighbour = await TestClient.connect(other.post)
    using talk = await Duplex.begin(call.client, call.transceiver)
    using theirs = await Duplex.begin(neighbour, other)
    await poison(call, rig, other.bound[0]!)
    await eventually('packets go astray', async () => (await unclaimed(other)) >= 10, 5000)
    await assertPutRight(call, talk)
    const ours = await talk.finish()
    const account = await theirs.finish()
    assert.ok(account.up.received <= account.up.sent)
    assert.ok(account.up.lost <= (await counter(call.b, 'relay_drops', { reason: 'no_route' })))
    assert.ok(ours.up.lost >= 10)
    assert.deepEqual([call.client.media!.refused, neighbour.media!.refused], [0, 0])
    assert.deepEqual([ours.down.lost, account.down.lost], [0, 0])
  })

  it('of a client whose address another one has now: neither call takes what is the other’s', async () => {
    await using call = await callWithRedis(redis)
    const { hop, b, client, transceiver } = call
    await using second = await transceiverBehind(hop.address)
    const first = await Duplex.begin(client, transceiver)
    const bind = client.local.clone()
    first[Symbol.dispose]()
    await client.vanish()
    const [before] = (await transceiver.sessions()).sessions
    await using newcomer = await TestClient.connect(second.post, { bind, checkEveryMs: 1000 })
    using talk = await Duplex.begin(newcomer, second)
    // The first call's route is the older of two live ones: its place in the store no other takes while it is fresh.
    hop.holdsChecks = true
    const refused = newcomer.media!.refused
    const strays = await unclaimed(transceiver)
    call.rehash(b)
    await counted(b, 'relay_recoveries', {}, 1)
    await eventually('packets go astray', async () => (await unclaimed(transceiver)) >= strays + 10, 5000)
    await assertPutRight(call, talk)
    const { up, down } = await talk.finish()
    assert.ok(up.received <= up.sent && down.received <= down.sent)
    assert.ok(newcomer.media!.refused > refused, 'what the first call still says is refused')
    assert.equal((await transceiver.sessions()).sessions[0]!.packetsReceived, before!.packetsReceived)
  })
})
