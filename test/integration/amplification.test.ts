/**
 * An address that proves nothing gets at most three times what came from it, whatever it began: over 35 s, in which
 * every retry there is has had its turn. And nothing begins at the relay.
 */

import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { packetKind, SPP_LENGTH, STUN_BINDING_REQUEST } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { DtlsEndpoint } from '../../plugins/transceiver/peer/dtls.ts'
import { type Answer, readAnswer } from '../peers/answer.ts'
import { TestClient } from '../peers/client.ts'
import { sharedIdentity } from '../peers/client-identity.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { bindingRequest, stunMessage } from '../stun-bytes.ts'
import { edgeConfig } from './support/configs.ts'
import { Conversation } from './support/conversation.ts'
import { FastClock } from './support/fast-clock.ts'
import { checkOf, type Known, Stranger } from './support/stranger.ts'
import { WatchedEngine } from './support/watched-engine.ts'

/** OpenSSL retransmits by its own clock: seven real seconds let it do so eight times. */
const SPEED = 5
const WATCHED_MS = 35_000

/** What the relay sent that it had not received just like that. */
class Origins {
  readonly made: string[] = []
  forwarded = 0
  readonly #pending = new Map<string, number>()

  constructor(udp: WatchedEngine) {
    udp.watch = (way, port, bytes, start, end) => {
      const [outside, inside] = udp.ports
      if (port !== outside && port !== inside) return
      const from = port === inside ? start + SPP_LENGTH : start
      const upwards = (port === outside) === (way === 'in')
      const key = `${upwards ? 'up' : 'down'} ${Buffer.from(bytes.subarray(from, end)).toString('latin1')}`
      const pending = this.#pending.get(key) ?? 0
      if (way === 'in') this.#pending.set(key, pending + 1)
      else if (pending === 0) this.made.push(key)
      else {
        this.#pending.set(key, pending - 1)
        this.forwarded++
      }
    }
  }
}

/** An offer that was answered, by a client that never comes. */
async function offered(
  edge: TestEdge,
  setup: 'actpass' | 'passive',
): Promise<{ known: Known; answer: Answer }> {
  const client = await TestClient.open({ setup })
  const answer = readAnswer((await edge.post(client.offer)).sdp)
  await client.vanish()
  return { known: { local: client.credentials, remote: answer }, answer }
}

/** The first flight of a DTLS client. */
function clientHello(answer: Answer): Buffer[] {
  const flight: Buffer[] = []
  const dtls = new DtlsEndpoint({
    role: 'client',
    fingerprints: [{ algorithm: 'sha-256', value: answer.fingerprint }],
    context: sharedIdentity().context,
    send: (datagram) => void flight.push(Buffer.from(datagram)),
    onConnected: () => {},
    onMessage: () => {},
    onClosed: () => {},
  })
  dtls.start(performance.now())
  dtls.close()
  return flight
}

/** Its check has been answered. */
function answered(stranger: Stranger): Promise<void> {
  return eventually('the check is answered', () => stranger.received.length > 0, 10_000)
}

function kindsOf(stranger: Stranger): string {
  const counts = new Map<string, number>()
  for (const datagram of stranger.received) {
    const kind = packetKind(datagram[0]!)
    const isCheck = kind === 'stun' && datagram.readUInt16BE(0) === STUN_BINDING_REQUEST
    const name = isCheck ? 'checks of ours' : kind === 'stun' ? 'answers' : kind
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ')
}

describe('an address that sends one authenticated check and never answers', () => {
  const udp = new WatchedEngine()
  const origins = new Origins(udp)
  const strangers: Stranger[] = []
  let edge: TestEdge
  let client: TestClient
  let clock: FastClock

  const stranger = async (): Promise<Stranger> => {
    const one = await Stranger.open(edge.bound[0]!)
    strangers.push(one)
    return one
  }

  let afterCheck: Stranger
  let afterHello: Stranger
  let activeEdge: Stranger
  let inCall: Stranger
  let nobody: Stranger

  before(async () => {
    edge = await startEdge({ udp, config: edgeConfig({ transceiver: { connectSeconds: 600 } }) })
    const passive = await offered(edge, 'actpass')
    afterCheck = await stranger()
    afterCheck.send(checkOf(passive.known))

    const hello = await offered(edge, 'actpass')
    afterHello = await stranger()
    afterHello.send(checkOf(hello.known))
    await answered(afterHello)
    for (const datagram of clientHello(hello.answer)) afterHello.send(datagram)

    const active = await offered(edge, 'passive')
    assert.equal(active.answer.setup, 'active')
    activeEdge = await stranger()
    activeEdge.send(checkOf(active.known))

    client = await TestClient.connect(edge.post)
    inCall = await stranger()
    using talk = new Conversation(client, false)
    await talk.exchange(5)
    inCall.send(checkOf({ local: client.credentials, remote: client.answer! }))
    await talk.exchange(5)

    nobody = await stranger()
    for (const datagram of [stunMessage(1, []), bindingRequest('nobody:knows'), Buffer.alloc(1200, 0x80)]) {
      nobody.send(datagram)
    }
    for (const datagram of clientHello(hello.answer)) nobody.send(datagram)

    const startedAt = performance.now()
    clock = new FastClock(SPEED)
    await eventually('it is over', () => performance.now() - startedAt > WATCHED_MS, 2 * WATCHED_MS)
    await talk.finish()
  })

  after(async () => {
    clock?.[Symbol.dispose]()
    await client?.close()
    await edge?.close()
    for (const one of strangers) await one.close()
  })

  function assertBounded(t: TestContext, one: Stranger): void {
    const { bytesSent, bytesReceived } = one
    t.diagnostic(`${bytesSent} bytes sent, ${bytesReceived} received: ${kindsOf(one)}`)
    assert.ok(bytesReceived > 0)
    assert.ok(bytesReceived <= 3 * bytesSent)
  }

  it('gets answers and our checks, within the bound', (t) => {
    assertBounded(t, afterCheck)
    assert.equal(kindsOf(afterCheck).includes('dtls'), false)
  })

  it('gets no more of our DTLS flight and its retries than that, after a ClientHello', (t) => {
    assertBounded(t, afterHello)
    assert.ok(kindsOf(afterHello).includes('dtls'))
  })

  it('gets no ClientHello of ours where the edge would be the DTLS client', (t) => {
    assertBounded(t, activeEdge)
    assert.equal(kindsOf(activeEdge).includes('dtls'), false)
  })

  it('gets nothing of a call that goes on elsewhere', (t) => {
    assertBounded(t, inCall)
    assert.equal(/media|dtls/.test(kindsOf(inCall)), false)
    assert.ok(client.audio.total > 100)
  })

  it('gets nothing at all when it authenticates nothing', () => {
    assert.equal(nobody.bytesReceived, 0)
  })

  it('gets nothing that begins at the relay, and neither does a transceiver', (t) => {
    t.diagnostic(`${origins.forwarded} datagrams forwarded, ${origins.made.length} made up`)
    assert.deepEqual(origins.made, [])
    assert.ok(origins.forwarded > 100)
  })
})
