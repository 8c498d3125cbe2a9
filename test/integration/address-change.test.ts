/** A client's way to us changes in mid-call: the call goes on, and answers go the new way only once that is proven. */

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  type Address,
  packetKind,
  SPP_LENGTH,
  STUN_BINDING_REQUEST,
  STUN_BINDING_SUCCESS,
  STUN_HEADER_LENGTH,
} from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { LossyLink } from '../../core/testing/lossy-link.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { edgeConfig } from './support/configs.ts'
import {
  type Account,
  assertEvents,
  assertInOrder,
  assertWhole,
  Conversation,
} from './support/conversation.ts'
import { WatchedEngine } from './support/watched-engine.ts'

/** Far more than any packet that was on its way can need. */
const SETTLED = 15

/** What a link saw, in order: `up media`, `down request`, … */
function watchLink(link: LossyLink): string[] {
  const seen: string[] = []
  link.tap = (direction, datagram) => {
    seen.push(`${direction} ${nameOf(datagram)}`)
    return datagram
  }
  return seen
}

function nameOf(datagram: Buffer): string {
  const kind = packetKind(datagram[0]!)
  if (kind !== 'stun' || datagram.length < STUN_HEADER_LENGTH) return kind
  const type = datagram.readUInt16BE(0)
  return type === STUN_BINDING_REQUEST ? 'request' : type === STUN_BINDING_SUCCESS ? 'success' : 'error'
}

/** Ends the talk and says what it cost; what was heard was in order. */
async function finish(t: TestContext, talk: Conversation, edge: TestEdge): Promise<Account> {
  const account = await talk.finish()
  const { sessions } = await edge.sessions()
  const { packetsReceived, packetsSent } = sessions[0]!
  t.diagnostic(
    `sent ${account.sent}, received by the edge ${packetsReceived}, sent back ${packetsSent}, ` +
      `heard ${account.heard.length}, lost on the way ${account.lost}, events ${account.eventsHeard.length} of ${account.eventsSent}`,
  )
  assertInOrder(account)
  return account
}

/** Where the edge sends the only session's media. */
async function selected(edge: TestEdge): Promise<string | null> {
  return (await edge.sessions()).sessions[0]!.client
}

/** A call by way of a NAT, and that NAT's own engine. */
async function throughNat(checkEveryMs: number) {
  const edge = await startEdge()
  const engine = new WatchedEngine()
  const link = await LossyLink.open({ server: edge.bound[0]!, engine })
  const client = await TestClient.connect(edge.post, { via: link.address, checkEveryMs })
  return {
    edge,
    engine,
    link,
    client,
    async [Symbol.asyncDispose]() {
      await client.close()
      await edge.close()
      await link.close()
    },
  }
}

/** How many datagrams came to the NAT's ports other than its present one. The link's own port is the first. */
function atOldPorts(engine: WatchedEngine, current: Address): number {
  return engine.ports
    .slice(1)
    .filter(({ local }) => !local.equals(current))
    .reduce((sum, { counters }) => sum + counters.received, 0)
}

/** After media has come back the new way for a while, nothing at all goes the old one. */
async function assertOldAddressIsDead(
  talk: Conversation,
  engine: WatchedEngine,
  current: Address,
): Promise<void> {
  await talk.exchange(SETTLED)
  const before = atOldPorts(engine, current)
  await talk.exchange(SETTLED)
  assert.equal(atOldPorts(engine, current), before)
}

describe('a NAT gives the client another port in mid-call', () => {
  it('and the client checks at once: hardly a packet is lost, and media follows the path check', async (t) => {
    await using call = await throughNat(2500)
    const { edge, engine, link, client } = call
    using talk = new Conversation(client)
    await talk.exchange(10)
    const seen = watchLink(link)
    const moved = await link.rebind()
    client.transport.checks!.start(performance.now())
    await eventually('media comes the new way', () => seen.includes('down media'))
    assertProven(seen)
    assert.equal(await selected(edge), moved.toString())
    await assertOldAddressIsDead(talk, engine, moved)
    const account = await finish(t, talk, edge)
    assertEvents(account)
    assert.ok(account.lost < 25, `${account.lost} packets were lost`)
  })

  it('and the client notices nothing: its next routine check brings the call back', async (t) => {
    await using call = await throughNat(600)
    const { edge, engine, link, client } = call
    using talk = new Conversation(client)
    await talk.exchange(10)
    // Just answered: the next routine check is a whole interval away.
    const { checks } = client.transport
    const answered = checks!.counters.answered
    await eventually('a routine check was answered', () => checks!.counters.answered > answered)
    const seen = watchLink(link)
    const sent = checks!.counters.sent
    const moved = await link.rebind()
    await eventually('media comes the new way', () => seen.includes('down media'), 5000)
    assert.ok(checks!.counters.sent > sent, 'only a check brings it back')
    assertProven(seen)
    const lostUp = seen.slice(0, seen.indexOf('up request')).filter((what) => what === 'up media').length
    assert.ok(lostUp > 0, 'some packets went up from an address that nobody knew')
    assert.equal(await selected(edge), moved.toString())
    await assertOldAddressIsDead(talk, engine, moved)
    assertEvents(await finish(t, talk, edge))
  })

  it('again and again, five times in one call', async (t) => {
    await using call = await throughNat(2500)
    const { edge, engine, link, client } = call
    using talk = new Conversation(client)
    for (let n = 0; n < 5; n++) {
      await talk.exchange(10)
      const seen = watchLink(link)
      const moved = await link.rebind()
      client.transport.checks!.start(performance.now())
      await eventually('media comes the new way', () => seen.includes('down media'))
      assertProven(seen)
      if (n === 4) await assertOldAddressIsDead(talk, engine, moved)
    }
    assertEvents(await finish(t, talk, edge))
  })

  it('without ever answering the path check there: nothing but STUN goes to it, and the call waits', async () => {
    await using call = await throughNat(2500)
    const { edge, link, client } = call
    using talk = new Conversation(client, false)
    await talk.exchange(10)
    const before = await selected(edge)
    const seen = watchLink(link)
    client.transport.checks!.answers = false
    await link.rebind()
    client.transport.checks!.start(performance.now())
    await eventually(
      'all three tries came',
      () => seen.filter((what) => what === 'down request').length >= 3,
      5000,
    )
    assert.deepEqual(
      seen.filter((what) => what.startsWith('down ') && !/success|request/.test(what)),
      [],
    )
    assert.equal(await selected(edge), before)
    // It is there after all.
    client.transport.checks!.answers = true
    client.transport.checks!.start(performance.now())
    await talk.exchange(5)
    assertInOrder(await talk.finish())
  })
})

/** Before any media came down the new way, the client had answered our check of it. */
function assertProven(seen: readonly string[]): void {
  const first = seen.findIndex((what) => what === 'down media' || what === 'down dtls')
  const order = ['up request', 'down success', 'down request', 'up success'].map((what) => seen.indexOf(what))
  assert.ok(
    order.every((at, i) => at >= 0 && at < first && (i === 0 || at > order[i - 1]!)),
    seen.slice(0, first + 1).join(', '),
  )
}

describe('the relay changes, the client does not', () => {
  it('its socket towards us moves: answers follow the next packet', async (t) => {
    const udp = new WatchedEngine()
    await using edge = await startEdge({ udp })
    await using client = await TestClient.connect(edge.post, { checkEveryMs: Infinity })
    const upstream = udp.ports[1]!
    using talk = new Conversation(client)
    await talk.exchange(10)
    const old = upstream.local.toString()
    await upstream.move()
    assert.notEqual(upstream.local.toString(), old)
    await talk.exchange(SETTLED)
    const late = upstream.late.length
    await talk.exchange(SETTLED)
    assert.equal(upstream.late.length, late, 'something still goes to the old socket')
    const account = await finish(t, talk, edge)
    // What was sent back to the old socket before a packet came from the new one is lost, as with a restarted relay.
    assert.equal(account.lost, upstream.late.filter(isFramedAudio).length)
  })

  it('the client goes on by another of its addresses: no new proof is asked for', async (t) => {
    await using edge = await startEdge({
      config: edgeConfig({ relay: { listen: ['127.0.0.1:0', '127.0.0.2:0'] } }),
    })
    const [first, second] = edge.bound
    await using client = await TestClient.connect(edge.post, { via: first! })
    using talk = new Conversation(client)
    await talk.exchange(10)
    const { asked } = client.transport.checks!.counters
    client.socket.remote.copy(second!)
    client.transport.checks!.start(performance.now())
    await talk.exchange(SETTLED)
    const { flows } = await edge.flows()
    assert.equal(flows.length, 2)
    const down = (): Promise<number[]> =>
      edge.flows().then((page) => page.flows.filter(isAt(first!)).map(({ packets }) => packets.down))
    const before = await down()
    await talk.exchange(SETTLED)
    assert.deepEqual(await down(), before, 'something still comes from the first address')
    assert.equal(client.transport.checks!.counters.asked, asked)
    assertEvents(await finish(t, talk, edge))
  })

  it('nothing changes at all: not a packet is lost', async (t) => {
    await using edge = await startEdge()
    await using client = await TestClient.connect(edge.post)
    using talk = new Conversation(client)
    await talk.exchange(50)
    assertWhole(await finish(t, talk, edge))
  })
})

/** RTP behind the relay's header: reports and channels go the same way (RFC 7983 §7, RFC 5761 §4). */
function isFramedAudio(bytes: Buffer): boolean {
  const [first, second] = [bytes[SPP_LENGTH]!, bytes[SPP_LENGTH + 1]!]
  return first >= 128 && first <= 191 && !(second >= 192 && second <= 223)
}

function isAt(local: Address): (flow: object) => boolean {
  return (flow) => 'local' in flow && flow.local === local.toString()
}
