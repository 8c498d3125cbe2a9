/** Attackers on the path of a handshake, and DTLS that anybody could send, against a whole edge on real sockets. */

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { LossyLink, type Tap } from '../../core/testing/lossy-link.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { Attacker } from '../unit/plugins/transceiver/peer/dtls-attacker.ts'
import { eachMessage, message, record } from '../unit/plugins/transceiver/peer/dtls-pair.ts'
import { edgeConfig } from './support/configs.ts'
import { assertWhole, Conversation } from './support/conversation.ts'
import { endings } from './support/endings.ts'
import { counted, counter } from './support/metrics.ts'

let edge: TestEdge
let link: LossyLink
let client: TestClient

beforeEach(async () => {
  edge = await startEdge({ config: edgeConfig() })
  link = await LossyLink.open({ server: edge.bound[0]! })
  client = await TestClient.open({ via: link.address, timeoutMs: 3000 })
})

afterEach(async () => {
  await client.close()
  await edge.close()
  await link.close()
})

const isDtls = (datagram: Buffer): boolean => datagram[0]! >= 20 && datagram[0]! <= 63

/** What is plain of a datagram's records; a client's Finished is not. */
function plaintextOf(datagram: Buffer): Buffer | undefined {
  let at = 0
  while (at < datagram.length && datagram[at] === 22 && datagram.readUInt16BE(at + 3) === 0) {
    at += 13 + datagram.readUInt16BE(at + 11)
  }
  return at > 0 ? datagram.subarray(0, at) : undefined
}

function isHello(datagram: Buffer): boolean {
  return isDtls(datagram) && datagram[0] === 22 && datagram[13] === 1
}

/** An attacker at the link: the client's proof passes or does not, its Finished never. Resolves when it has seen all. */
function onPath(attacker: Attacker, letThrough: boolean): { tap: Tap; ready: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const tap: Tap = (direction, datagram) => {
    if (!isDtls(datagram)) return datagram
    const up = direction === 'up'
    attacker.see(datagram, up)
    if (!up || isHello(datagram)) return datagram
    eachMessage(datagram, (type) => {
      if (type === 15) resolve()
    })
    return letThrough ? plaintextOf(datagram) : undefined
  }
  return { tap, ready: promise }
}

describe('an attacker on the path, who has the client’s certificate and not its key', () => {
  for (const [name, letThrough, forge] of [
    ['a second ClientKeyExchange', true, (attacker: Attacker) => attacker.secondKeyExchange()],
    ['a second Certificate', false, (attacker: Attacker) => attacker.secondCertificate()],
  ] as const) {
    it(`${name} does not get an attacker into the call`, async () => {
      const attacker = new Attacker()
      const { tap, ready } = onPath(attacker, letThrough)
      link.tap = tap
      client.accept(await edge.post(client.offer))
      await ready
      for (const datagram of forge(attacker)) await link.spoof(datagram)
      await eventually('the call has failed', () => endings(edge.log).length > 0, 10_000)
      assert.deepEqual(endings(edge.log), ['dtls_failed'])
      await edge.untilIdle()
    })
  }

  it('and it knows its trade: with its own certificate in the offer it would be in', async () => {
    const attacker = new Attacker()
    const { tap, ready } = onPath(attacker, false)
    link.tap = tap
    client.accept(
      await edge.post(client.offer.replaceAll(/sha-256 [0-9A-F:]+/g, `sha-256 ${attacker.fingerprint}`)),
    )
    await ready
    for (const datagram of attacker.secondCertificate(false)) await link.spoof(datagram)
    await eventually(
      'it is connected',
      async () => (await edge.sessions()).sessions[0]?.state === 'connected',
    )
  })

  for (const [name, edit] of [
    ['its extended master secret', (hello: Buffer) => hello.writeUInt8(0x7f, extension(hello, 0, 23, 0, 0))],
    [
      'its SRTP profiles',
      (hello: Buffer) => {
        const at = extension(hello, 0, 14, 0)
        for (let i = 0; i < hello.readUInt16BE(at + 4); i += 2) hello.writeUInt16BE(1, at + 6 + i)
      },
    ],
  ] as const) {
    it(`a ClientHello that was edited on the path, in ${name}, connects nobody`, async () => {
      link.tap = (direction, datagram) => {
        if (direction === 'up' && isHello(datagram)) edit(datagram)
        return datagram
      }
      client.accept(await edge.post(client.offer))
      await assert.rejects(client.connected(), /ended: failed|not connected/)
      assert.equal(client.media, undefined)
      await client.close()
      const states = (await edge.sessions()).sessions.map(({ state }) => state)
      assert.ok(!states.includes('connected'))
      assert.ok(endings(edge.log).every((reason) => reason === 'dtls_failed'))
    })
  }
})

/** Where an extension of this type begins in a ClientHello. */
function extension(hello: Buffer, ...start: number[]): number {
  const at = hello.indexOf(Buffer.from(start))
  assert.ok(at > 0)
  return at
}

/** What anybody can make without a key: hellos, data and alerts in clear, and fragments that cost memory. */
function* injections(hello: Buffer): Generator<Buffer> {
  const renumbered = Buffer.from(hello)
  for (let n = 0; n < 500; n++) {
    renumbered.writeUIntBE(n % 2 === 0 ? n : 2 ** 48 - n, 5, 6)
    yield renumbered
    yield hello
    yield record(23, 0, n, Buffer.from('let me in'))
    yield record(23, 1, n, Buffer.alloc(60, n))
    yield record(21, 0, n, Buffer.of(2, 40))
    yield record(21, 0, n, Buffer.of(1, 0))
    yield record(22, 0, n, emptyFragments)
  }
}

const emptyFragments = Buffer.concat(
  Array.from({ length: 90 }, (_, n) => {
    const fragment = message(11, 1 + (n % 7), Buffer.alloc(0))
    fragment.writeUIntBE(16_384 - (n & 1), 1, 3)
    return fragment
  }),
)

describe('DTLS that anybody could send', () => {
  /** Injects all of it past the link's tap; a pause after each hundred lets the edge read them. */
  async function inject(hello: Buffer): Promise<number> {
    let sent = 0
    for (const datagram of injections(hello)) {
      await link.spoof(datagram)
      if (++sent % 100 === 0) await new Promise(setImmediate)
    }
    return sent
  }

  it('from the client’s own address, in mid-call: the call does not notice, and the answers are few', async (t) => {
    let hello: Buffer | undefined
    let answers = 0
    link.tap = (direction, datagram) => {
      if (direction === 'up' && isHello(datagram)) hello = datagram
      if (direction === 'down' && isDtls(datagram)) answers++
      return datagram
    }
    client.accept(await edge.post(client.offer))
    await client.connected()
    using talk = new Conversation(client, false)
    await talk.exchange(5)
    const before = await counter(edge, 'transceiver_packets', { direction: 'received' })
    answers = 0
    const sent = await inject(hello!)
    await counted(edge, 'transceiver_packets', { direction: 'received' }, before + sent)
    await talk.exchange(5)
    assertWhole(await talk.finish())
    t.diagnostic(`${sent} datagrams injected, ${answers} DTLS datagrams came down meanwhile`)
    assert.ok(answers < 20, `${answers} answers`)
  })

  it('from the client’s own address, while it connects: it connects all the same', async (t) => {
    let down = 0
    let injected: Promise<number> | undefined
    link.tap = (direction, datagram) => {
      if (direction === 'down' && isDtls(datagram)) down++
      // The hello has not arrived yet: all of this comes before, with and behind it.
      if (direction === 'up' && isHello(datagram)) injected ??= inject(datagram)
      return datagram
    }
    client.accept(await edge.post(client.offer))
    await client.connected()
    const sent = await injected!
    using talk = new Conversation(client)
    await talk.exchange(5)
    assertWhole(await talk.finish())
    t.diagnostic(`${sent} datagrams injected, ${down} DTLS datagrams came down`)
    assert.ok(down < 100, `${down} answers`)
  })
})
