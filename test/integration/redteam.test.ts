/**
 * Attacks, each with the tests that hold it off (`ATTACKS`; a test checks that they are there), and those that are not
 * in a file of their own.
 */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { LossyLink } from '../../core/testing/lossy-link.ts'
import { TestClient } from '../peers/client.ts'
import { ROOT, startEdge } from '../peers/edge.ts'
import { edgeConfig } from './support/configs.ts'
import { assertWhole, Conversation } from './support/conversation.ts'
import { FastClock } from './support/fast-clock.ts'
import { counted } from './support/metrics.ts'
import { checkOf, Stranger } from './support/stranger.ts'

const PEER = 'test/unit/plugins/transceiver/peer'
const ICE = 'test/unit/plugins/transceiver/ice'
const RELAY = 'test/unit/plugins/relay/pure'
const HERE = 'test/integration'

/** An attack, and where it is held off: files, and the names of tests in them. */
const ATTACKS: readonly [attack: string, tests: readonly (readonly [file: string, name: string])[]][] = [
  [
    'a second ClientKeyExchange or Certificate on the path, without the client’s key',
    [
      [`${PEER}/dtls-on-path.test.ts`, 'does not get an attacker in'],
      [`${PEER}/dtls-on-path.test.ts`, 'the attacker knows its trade'],
      [`${HERE}/on-path.test.ts`, 'does not get an attacker into the call'],
    ],
  ],
  [
    'application data before the proof, a flood of ClientHellos, empty fragments',
    [
      [`${PEER}/dtls-injection.test.ts`, 'data before the proof is not delivered'],
      [`${PEER}/dtls-injection.test.ts`, 'a flood of one ClientHello gets a bounded answer'],
      [`${PEER}/dtls-injection.test.ts`, 'empty fragments that claim 16 KB each'],
      [`${HERE}/on-path.test.ts`, 'from the client’s own address, in mid-call'],
      [`${HERE}/on-path.test.ts`, 'from the client’s own address, while it connects'],
    ],
  ],
  [
    'a downgraded SRTP profile, or no extended master secret, in an edited ClientHello',
    [
      [`${PEER}/dtls-on-path.test.ts`, 'a downgraded SRTP profile is noticed'],
      [`${PEER}/dtls-on-path.test.ts`, 'a stripped extended_master_secret is noticed'],
      [`${HERE}/on-path.test.ts`, 'a ClientHello that was edited on the path'],
    ],
  ],
  [
    'checks for one’s own session from the victim’s address: taking the address, aiming media at it',
    [
      [`${ICE}/capture.test.ts`, 'capture: an attacker’s own valid checks from the victim’s address'],
      [`${ICE}/capture.test.ts`, 'hammer: one spoofed check does not aim'],
      [`${HERE}/capture.test.ts`, 'on the same transceiver'],
      [`${HERE}/amplification.test.ts`, 'gets nothing of a call that goes on elsewhere'],
    ],
  ],
  [
    'an address that is not the client’s, before it has answered our check',
    [
      [`${ICE}/agent.test.ts`, 'a check is answered first, then the address is checked'],
      [`${ICE}/agent.test.ts`, 'amplification: an address that never answers'],
      [`${HERE}/address-change.test.ts`, 'without ever answering the path check there'],
      [`${HERE}/amplification.test.ts`, 'gets answers and our checks, within the bound'],
      ['test/browser/loopback-call.test.ts', 'brings every note back in order'],
    ],
  ],
  [
    'a flow moved by another transceiver’s success response',
    [
      [`${RELAY}/flow-routes.test.ts`, 'with a valid session of its own: every packet of the client'],
      [`${HERE}/capture.test.ts`, 'on another transceiver behind the same relay'],
    ],
  ],
  [
    'forged ufrags: taken for real ones, or costing too much to refuse',
    [
      ['core/testing/routing-codec.ts', 'takes no text with one character changed'],
      [`${RELAY}/bounds.test.ts`, 'one network has its share, and others are served meanwhile'],
      [`${HERE}/capture.test.ts`, 'sends checks with a forged ufrag'],
      [`${HERE}/requests.test.ts`, 'a guess from the ufrag'],
    ],
  ],
  [
    'a flood of new flows through a full table',
    [
      [`${RELAY}/bounds.test.ts`, 'evicts the oldest unconfirmed flow'],
      [`${RELAY}/bounds.test.ts`, 'a sweep ends what nobody asks about'],
      [
        'test/unit/core/wire/address.test.ts',
        'addresses made to collide under one seed do not under another',
      ],
      [`${HERE}/redteam.test.ts`, 'pushes out nobody who is in a call'],
    ],
  ],
  [
    'replies from another address than the client sent to',
    [
      [`${HERE}/relay.test.ts`, 'replies leave from the one that the client sent to'],
      [`${HERE}/redteam.test.ts`, 'are in a call by each of the relay’s addresses'],
    ],
  ],
]

describe('the list of attacks', () => {
  for (const [attack, tests] of ATTACKS) {
    it(`has tests against ${attack}`, () => {
      for (const [file, name] of tests) {
        assert.ok(readFileSync(join(ROOT, file), 'utf8').includes(name), `${file} has no test "${name}"`)
      }
    })
  }
})

describe('a flood of new flows', () => {
  it('pushes out nobody who is in a call, lets new callers in, and is forgotten', async (t) => {
    await using edge = await startEdge({ config: edgeConfig({ relay: { maxFlows: 16, workers: 0 } }) })
    await using client = await TestClient.connect(edge.post)
    using talk = new Conversation(client)
    await using opened = new AsyncDisposableStack()
    const strangers = await Promise.all(Array.from({ length: 100 }, () => Stranger.open(edge.bound[0]!)))
    for (const stranger of strangers) opened.use(stranger)
    // Real ufrags, which anybody gets by calling, without a password: no flow of these is ever confirmed.
    for (const stranger of strangers) {
      const one = await TestClient.open()
      const { sdp } = await edge.post(one.offer)
      const ufrag = /a=ice-ufrag:(\S+)/.exec(sdp)![1]!
      await one.vanish()
      stranger.send(checkOf({ local: one.credentials, remote: { ufrag, pwd: 'guess' } }))
    }
    await counted(edge, 'relay_evictions', {}, strangers.length - 15)
    const { confirmed, unconfirmed } = await edge.flows()
    t.diagnostic(`${strangers.length} strangers: ${confirmed} flow confirmed, ${unconfirmed} not`)
    assert.deepEqual([confirmed, unconfirmed], [1, 15])
    await using late = await TestClient.connect(edge.post)
    assert.ok(late.media)
    await talk.exchange(10)
    assertWhole(await talk.finish())
    for (const stranger of strangers) assert.equal(stranger.bytesReceived, 0)
    await late.close()
    await client.close()
    // It moves this thread's time, which is why the relay works in it.
    using clock = new FastClock()
    clock.jump(40_000)
    await eventually(
      'the table is empty',
      async () => {
        const page = await edge.flows()
        return page.confirmed + page.unconfirmed === 0
      },
      10_000,
    )
    await edge.untilIdle(10_000)
  })
})

describe('clients that take packets only from where they sent theirs', () => {
  it('are in a call by each of the relay’s addresses', async () => {
    const listen = ['127.0.0.1:0', '127.0.0.2:0', '127.0.0.3:0']
    await using several = await startEdge({ config: edgeConfig({ relay: { listen } }) })
    for (const server of several.bound.slice(0, listen.length)) {
      await using only = await LossyLink.open({ server })
      await using caller = await TestClient.connect(several.post, { via: only.address })
      using talk = new Conversation(caller)
      await talk.exchange(10)
      assertWhole(await talk.finish())
    }
  })
})
