/** Attacks on the flows of others. */

import assert from 'node:assert/strict'
import { parseAddress } from '../../../core/index.ts'
import { eventually } from '../../../core/testing/check.ts'
import { attribute, stunMessage } from '../../stun-bytes.ts'
import type { Attack } from './attack.ts'
import { SUCCESS } from './attack-stage.ts'

const ROLE_CONFLICT = stunMessage(0x0111, [attribute(0x0009, Buffer.from([0, 0, 4, 87]))])

/** On the flows of others. */
export const ON_FLOWS: readonly Attack[] = [
  {
    name: 'port reuse (relay 1): the next client at an ip:port is heard by its own transceiver',
    drops: {},
    async run(stage) {
      const [one, two] = stage.transceivers
      const client = await stage.client()
      await stage.connect(client, one, stage.ufrag(one.local))
      await stage.connect(client, two, stage.ufrag(two.local))
      await stage.talk(client, two)
    },
  },
  {
    name: 'ICE restart on the same 5-tuple (relay 2): the new ufrag reaches the new agent',
    drops: {},
    async run(stage) {
      const [one, two] = stage.transceivers
      const client = await stage.client()
      for (const transceiver of [one, one, two]) {
        await stage.connect(client, transceiver, stage.ufrag(transceiver.local))
        await stage.talk(client, transceiver)
      }
    },
  },
  {
    name: 'two clients at one host (relay 3): each hears its own',
    drops: {},
    async run(stage) {
      const [one, two] = stage.transceivers
      const [a, b] = [await stage.client(), await stage.client()]
      await stage.connect(a, one, stage.ufrag(one.local))
      await stage.connect(b, two, stage.ufrag(two.local))
      await stage.talk(a, one)
      await stage.talk(b, two)
      assert.deepEqual([a.received.length, b.received.length], [2, 2])
    },
  },
  {
    name: 'valid ufrag from a spoofed address: takes no call away',
    drops: { pending_downstream: 1 },
    async run(stage) {
      const [one, two] = stage.transceivers
      const client = await stage.client()
      await stage.connect(client, one, stage.ufrag(one.local))
      // A spoofed datagram is one that comes from the victim's address.
      const check = stage.check(stage.ufrag(two.local))
      client.send(check)
      const frame = await two.got(check)
      two.say(frame, stage.media())
      await stage.talk(client, one)
      assert.equal(two.frames.length, 0)
      await stage.says(two, frame, client, SUCCESS)
      await stage.talk(client, one)
    },
  },
  {
    name: 'valid ufrag from a ninth address, spoofed or not',
    drops: { ufrag_addresses: 1 },
    async run(stage) {
      const [one] = stage.transceivers
      const ufrag = stage.ufrag(one.local)
      const refused = (): number => stage.drops().get('ufrag_addresses')!
      const before = refused()
      let taken = 0
      while (refused() === before) {
        const check = stage.check(ufrag)
        ;(await stage.client()).send(check)
        await eventually('it is forwarded or refused', () => refused() > before || one.has(check))
        taken += one.has(check) ? 1 : 0
      }
      assert.equal(taken, 8, 'whichever workers they came to')
    },
  },
  {
    name: 'replayed first packet: carries nothing until the transceiver has accepted it',
    drops: { pending_downstream: 1, no_route: 1 },
    async run(stage) {
      const [one] = stage.transceivers
      const [client, thief] = [await stage.client(), await stage.client()]
      const check = stage.check(stage.ufrag(one.local))
      client.send(check)
      await stage.says(one, await one.got(check), client, SUCCESS)
      thief.send(check)
      const frame = await one.got(check)
      thief.send(stage.media())
      one.say(frame, stage.media())
      await stage.talk(client, one)
      assert.equal(thief.received.length, 0)
    },
  },
  {
    name: 'forged success response: neither a stranger’s nor the client’s own makes a route live',
    drops: { not_own_transceiver: 1, no_route: 1 },
    async run(stage) {
      const [one, two] = stage.transceivers
      const client = await stage.client()
      const before = stage.confirmed
      const check = stage.check(stage.ufrag(one.local))
      client.send(check)
      const frame = await one.got(check)
      two.say(frame, SUCCESS)
      client.send(SUCCESS)
      await one.got(SUCCESS)
      client.send(stage.media())
      await stage.assertBystander()
      assert.deepEqual([stage.confirmed, client.received.length], [before, 0])
    },
  },
  {
    name: 'role conflict reaching the client: a pending route’s 487 passes and confirms nothing',
    drops: {},
    async run(stage) {
      const [one] = stage.transceivers
      const client = await stage.client()
      const before = stage.confirmed
      const check = stage.check(stage.ufrag(one.local))
      client.send(check)
      await stage.says(one, await one.got(check), client, ROLE_CONFLICT)
      assert.equal(stage.confirmed, before)
    },
  },
  {
    name: 'framing from an untrusted host: is not heard, whoever it says it is for',
    drops: { not_own_transceiver: 2, no_flow: 1, unknown_proxy: 1 },
    async run(stage) {
      const [one] = stage.transceivers
      const client = await stage.client()
      const frame = await stage.connect(client, one, stage.ufrag(one.local))
      const stranger = await stage.peer('127.0.0.9')
      stranger.say(frame, stage.media())
      stranger.say(frame, SUCCESS)
      stranger.say({ ...frame, client: parseAddress('127.0.0.1:9')! }, SUCCESS)
      stranger.say({ ...frame, proxy: parseAddress('127.0.0.1:9')! }, SUCCESS)
      await stage.talk(client, one)
      assert.equal(client.received.length, 2)
    },
  },
]
