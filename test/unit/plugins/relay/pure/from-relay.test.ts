/** Between relays: what came from one is forwarded by the rules, answered by the way it came, and never goes to another. */

import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Address } from '../../../../../core/index.ts'
import { CONFIRMED_MS, UNCONFIRMED_MS } from '../../../../../plugins/relay/pure/limits.ts'
import { HEADER_IS_CHANGING } from '../../../../../plugins/relay/pure/records.ts'
import { bindingRequest } from '../../../../stun-bytes.ts'
import { framed, fromHop, GLOBAL, OTHER_PORT, told, VIP } from '../simulated-hops.ts'
import {
  at,
  CLIENT,
  DTLS,
  ERROR,
  LOCALS,
  MEDIA,
  type Outcome,
  SimulatedRelay,
  SUCCESS,
  T1,
  T2,
} from '../simulated-relay.ts'

const RELAY_2 = '10.2.0.4:3490'
/** A socket of ours, where relays are. */
const OURS = at('10.9.0.4:3490')

let relay: SimulatedRelay
beforeEach(() => {
  relay = new SimulatedRelay({ clusters: [2, 3], own: [OURS] })
  relay.issue('call1', T1)
  relay.issue('call2', T2)
  relay.issue('abroad', '10.2.0.1:3479', 2)
  relay.issue('nowhere', '10.3.0.1:3479', 3)
  relay.issue('unknown', '10.4.0.1:3479', 4)
  relay.state.clusters.set(2, at(RELAY_2))
})

function across(payload: Buffer, hop = GLOBAL, proxy = VIP, client = CLIENT): Outcome {
  return fromHop(relay, framed(payload, proxy, client), hop)
}

const request = (ufrag: string): Buffer => bindingRequest(`${ufrag}:client`)

/** An answer of a transceiver, to a name: `relay < proxy`, or why not. */
function down(transceiver: string, payload: Buffer, name: Address): string {
  const outcome = relay.down(transceiver, payload, CLIENT, name)
  if (typeof outcome === 'string') return outcome
  const { hops } = relay.state
  const { local } = relay.decision
  return `${hops.relayOf(local)} < ${hops.proxyOf(local)}`
}

describe('in the cluster of the call', () => {
  test('a call through another relay is confirmed here, and answered by the way it came', () => {
    assert.deepEqual(across(request('call1')), [T1])
    const name = told(relay)
    assert.equal(down(T1, MEDIA, name), 'pending_downstream')
    assert.equal(across(MEDIA), 'no_route')
    assert.equal(down(T1, SUCCESS, name), `${GLOBAL} < ${VIP}`)
    assert.equal(relay.state.flows.confirmed, 1)
    assert.deepEqual(across(MEDIA), [T1])
    assert.equal(down(T1, DTLS, name), `${GLOBAL} < ${VIP}`)
    assert.equal(down(T2, MEDIA, name), 'not_own_transceiver')
  })

  test('the key of a flow is the previous hop, the address the client sent to there, and the client', () => {
    const ways = [
      [GLOBAL, VIP],
      [OTHER_PORT, VIP],
      [GLOBAL, at('[2001:db8::99]:3478')],
    ] as const
    const names = ways.map(([hop, proxy], i) => {
      assert.deepEqual(across(request(i === 1 ? 'call2' : 'call1'), hop, proxy), [i === 1 ? T2 : T1])
      return told(relay)
    })
    assert.equal(new Set(names.map(String)).size, 3)
    assert.equal(relay.state.flows.unconfirmed, 3)
    for (const [i, [hop, proxy]] of ways.entries()) {
      assert.equal(down(i === 1 ? T2 : T1, SUCCESS, names[i]!), `${hop} < ${proxy}`)
      assert.equal(down(i === 1 ? T1 : T2, SUCCESS, names[i]!), 'not_own_transceiver')
    }
    relay.connect('call2', T2)
    assert.deepEqual(across(MEDIA), [T1])
    assert.deepEqual(relay.up(MEDIA), [T2])
  })

  test('a hop has the same name for a relay that has restarted, and it is no address of anybody', () => {
    across(request('call1'))
    const name = told(relay)
    relay = new SimulatedRelay()
    relay.issue('call1', T1)
    assert.equal(relay.down(T1, MEDIA, CLIENT, name), 'unknown_proxy')
    across(request('call1'))
    assert.ok(told(relay).equals(name))
    assert.match(name.host, /^100::/)
  })

  test('a route of another cluster is dropped: nothing goes from relay to relay', () => {
    for (const ufrag of ['abroad', 'abroad', 'unknown', 'nowhere']) {
      assert.equal(across(request(ufrag)), 'foreign_from_relay')
    }
    assert.deepEqual(relay.check('abroad'), [RELAY_2])
    assert.equal(across(request('abroad')), 'foreign_from_relay')
    across(request('call1'))
    down(T1, SUCCESS, told(relay))
    assert.equal(across(request('abroad')), 'foreign_from_relay')
    assert.deepEqual(across(MEDIA), [T1])
    assert.equal(relay.drops('foreign_from_relay'), 6)
  })

  test('what is not from a listed relay, not framed, nested, or has no client is dropped', () => {
    assert.equal(across(request('call1'), at('10.8.0.1:3500')), 'untrusted_relay')
    assert.equal(across(request('call1'), OURS), 'untrusted_relay')
    assert.equal(relay.state.hops.taken, 0)
    assert.equal(fromHop(relay, request('call1')), 'bad_frame')
    assert.equal(across(framed(MEDIA)), 'framing')
    assert.equal(across(Buffer.alloc(0)), 'empty')
    assert.equal(across(request('call1'), GLOBAL, VIP, '0.0.0.0:9'), 'bad_source')
    assert.equal(across(request('call1'), GLOBAL, VIP, String(LOCALS[0])), 'bad_source')
    assert.equal(relay.up(framed(MEDIA)), 'framing')
    assert.equal(relay.state.flows.unconfirmed, 0)
  })

  test('what the store knew of a hop displaces nothing, and is of our own cluster', () => {
    across(MEDIA)
    const { local } = relay.decision
    assert.equal(relay.decision.wantsLookUp, true)
    assert.equal(relay.recover(RELAY_2, CLIENT, 2, local), false)
    assert.equal(relay.recover(T1, CLIENT, 1, local), true)
    assert.deepEqual(across(MEDIA), [T1])
    assert.equal(down(T1, MEDIA, relay.state.hops.nameOf(local)), `${GLOBAL} < ${VIP}`)
  })

  test('5,000 hops: their places are used again, but not those of flows', () => {
    across(request('call1'))
    const name = told(relay)
    down(T1, SUCCESS, name)
    for (let i = 0; i < 5_000; i++) across(MEDIA, at(`10.9.${i >> 8}.${i & 255}:3500`))
    assert.deepEqual(across(MEDIA), [T1])
    assert.equal(down(T1, MEDIA, name), `${GLOBAL} < ${VIP}`)
    assert.equal(relay.state.hops.taken, 4_096)
    relay.now += CONFIRMED_MS
    relay.state.flows.sweep(relay.now, 100)
    for (let i = 0; i < 5_000; i++) across(MEDIA, at(`10.9.${i >> 8}.${i & 255}:3600`))
    assert.equal(relay.down(T1, MEDIA, CLIENT, name), 'unknown_proxy')
  })
})

describe('in front of other clusters', () => {
  test('a ufrag of another cluster leads to its relay, wherever the transceiver is', () => {
    assert.deepEqual(relay.check('abroad'), [RELAY_2])
    assert.deepEqual(relay.decision.clusters.slice(0, 1), [2])
    assert.equal(relay.down('10.2.0.1:3479', SUCCESS), 'not_own_transceiver')
    assert.deepEqual(relay.down(RELAY_2, SUCCESS), [`${LOCALS[0]} > ${CLIENT}`])
    assert.equal(relay.decision.cluster, 2)
    assert.deepEqual(relay.up(MEDIA), [RELAY_2])
    assert.deepEqual(relay.down(RELAY_2, ERROR), [`${LOCALS[0]} > ${CLIENT}`])
  })

  test('one that the operator did not name, or whose relay is not found yet, is dropped', () => {
    assert.equal(relay.check('unknown'), 'foreign_cluster')
    assert.equal(relay.check('nowhere'), 'cluster_unreachable')
    relay.state.clusters.set(3, at('10.3.0.4:3490'))
    assert.deepEqual(relay.check('nowhere'), ['10.3.0.4:3490'])
  })

  test('a relay that is found elsewhere gets the next check, and media when it has answered', () => {
    relay.connect('abroad', RELAY_2)
    relay.state.clusters.set(2, at('10.2.0.5:3490'))
    assert.deepEqual(relay.check('abroad'), ['10.2.0.5:3490'])
    assert.deepEqual(relay.up(MEDIA), [RELAY_2])
    assert.deepEqual(relay.down('10.2.0.5:3490', SUCCESS), [`${LOCALS[0]} > ${CLIENT}`])
    assert.deepEqual(relay.up(MEDIA), [RELAY_2, '10.2.0.5:3490'])
  })

  test('a relay that is found elsewhere gets the checks of everybody who has the ufrag', () => {
    const other = '198.51.100.8:40000'
    for (const client of [CLIENT, other]) relay.connect('abroad', RELAY_2, client)
    relay.state.clusters.set(2, at('10.2.0.5:3490'))
    for (const client of [CLIENT, other, CLIENT, other]) {
      assert.deepEqual(relay.check('abroad', client), ['10.2.0.5:3490'], client)
    }
  })

  test('a relay that is found elsewhere gets every check, also when it is slow to answer', () => {
    relay.connect('abroad', RELAY_2)
    relay.state.clusters.set(2, at('10.2.0.5:3490'))
    for (let n = 0; n < 4; n++) {
      assert.deepEqual(relay.check('abroad'), ['10.2.0.5:3490'])
      relay.now += UNCONFIRMED_MS
    }
    relay.state.clusters.set(2, at(RELAY_2))
    assert.deepEqual(relay.check('abroad'), [RELAY_2])
    assert.deepEqual(relay.up(MEDIA), [RELAY_2])
  })

  test('media goes on to where a relay was, also when a worker dies before the new one has answered', () => {
    relay.connect('abroad', RELAY_2)
    relay.state.clusters.set(2, at('10.2.0.5:3490'))
    relay.check('abroad')
    relay.state.memory.words[HEADER_IS_CHANGING] = 1
    relay.attach()
    assert.deepEqual(relay.up(MEDIA), [RELAY_2])
    assert.deepEqual(relay.check('abroad'), ['10.2.0.5:3490'])
  })

  test('an address of ours is no relay of another cluster', () => {
    relay.state.clusters.set(2, LOCALS[1]!)
    assert.equal(relay.check('abroad'), 'own_address')
    assert.equal(relay.recover(RELAY_2, CLIENT, 2), false)
  })

  test('a relay that is found at an address of ours stays where it was', () => {
    relay.connect('abroad', RELAY_2)
    relay.state.clusters.set(2, LOCALS[1]!)
    for (const client of [CLIENT, '198.51.100.8:40000']) {
      assert.deepEqual(relay.check('abroad', client), [RELAY_2], client)
    }
  })

  test('a call abroad is recovered to where its relay is now', () => {
    assert.equal(relay.recover('10.2.0.9:3490', CLIENT, 2), true)
    assert.deepEqual(relay.up(MEDIA), [RELAY_2])
    assert.deepEqual(relay.down(RELAY_2, MEDIA), [`${LOCALS[0]} > ${CLIENT}`])
  })
})
