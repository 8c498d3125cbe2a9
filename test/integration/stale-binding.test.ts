/**
 * relay 40: a client that never stops sending keeps alive the entry by which a node's connection tracking leads it to a
 * relay that is gone. What the operator must prevent (docs/guides/kubernetes-udp.md) is shown here, and what ends it.
 */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { Duplex } from './support/duplex.ts'
import { counter } from './support/metrics.ts'
import { TwoRelays } from './support/two-relays.ts'

const SETTLED = 20

/** A call whose relay is replaced while an entry goes on leading its client to the old one. */
async function replace(call: TwoRelays): Promise<void> {
  const { hop, a, b } = call
  hop.pins = true
  const { rtp } = hop.counts.up
  await eventually('the entry is made', () => hop.counts.up.rtp > rtp)
  hop.cut(a.bound[0]!)
  call.rehash(b)
}

function arrivedAt({ b }: TwoRelays): Promise<number> {
  return counter(b, 'relay_socket_datagrams', { socket: String(b.bound[0]), direction: 'in' })
}

/** The client sends and checks, and nothing of it reaches the relay that took over. */
async function assertPinned(call: TwoRelays): Promise<void> {
  const { hop } = call
  const { rtp, check } = hop.cutOff.up
  await eventually(
    'packets and checks go to the relay that is gone',
    () => hop.cutOff.up.rtp >= rtp + SETTLED && hop.cutOff.up.check > check,
    10_000,
  )
  assert.equal(await arrivedAt(call), 0)
  assert.equal((await call.transceiver.sessions()).total, 1)
}

describe('relay 40: an entry that leads to a relay that is gone', () => {
  it('holds a client for as long as it sends; the entry deleted, the recovery store has the call at once', async () => {
    await using call = await TwoRelays.open()
    using talk = await Duplex.begin(call.client, call.transceiver)
    await replace(call)
    await assertPinned(call)
    call.hop.holdsChecks = true
    call.hop.forget()
    await talk.exchange(SETTLED)
    assert.deepEqual(await call.routesOf(call.b), ['recovered'])
    call.hop.holdsChecks = false
    await talk.finish()
  })

  it('is left behind by a client that goes on from another port, as after an ICE restart', async () => {
    await using call = await TwoRelays.open()
    using talk = await Duplex.begin(call.client, call.transceiver)
    await replace(call)
    await assertPinned(call)
    await call.client.rebind()
    await talk.exchange(SETTLED)
    assert.deepEqual(await call.routesOf(call.b), ['live'])
    await talk.finish()
  })
})
