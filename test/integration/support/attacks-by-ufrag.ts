/** Attacks with ufrags that lead nowhere, or where they should not. */

import assert from 'node:assert/strict'
import { parseAddress } from '../../../core/index.ts'
import { SealedCodec } from '../../../plugins/routing-codec/sealed/codec.ts'
import { attribute, bindingRequest, stunMessage, USERNAME } from '../../stun-bytes.ts'
import { type Attack, forged } from './attack.ts'
import { KEY, type Stage } from './attack-stage.ts'

/** Sends a check that must not arrive. */
function dropped(ufrag: (stage: Stage) => string): Attack['run'] {
  return async (stage) => (await stage.client()).send(stage.check(ufrag(stage)))
}

/** With ufrags. */
export const ON_ROUTES: readonly Attack[] = [
  {
    name: 'forged ufrag',
    drops: { unroutable_ufrag: 1 },
    run: dropped((stage) => forged(stage.ufrag(stage.transceivers[0].local))),
  },
  {
    name: 'unknown key id',
    drops: { unroutable_ufrag: 1 },
    run: dropped(({ transceivers: [{ local: address }] }) =>
      new SealedCodec([{ ...KEY, id: 9 }]).encode(
        { cluster: 1, address, session: Buffer.alloc(8, 9) },
        'ufrag',
      ),
    ),
  },
  {
    name: 'route outside the CIDR',
    drops: { route_not_allowed: 1 },
    run: dropped((stage) => stage.ufrag(parseAddress('127.0.0.3:3479')!)),
  },
  {
    name: 'route outside the ports',
    drops: { route_not_allowed: 1 },
    run: dropped((stage) => stage.ufrag(parseAddress('127.0.0.1:1023')!)),
  },
  {
    name: 'route of another cluster',
    drops: { foreign_cluster: 1 },
    run: dropped((stage) => stage.ufrag(stage.transceivers[0].local, 2)),
  },
  {
    name: 'our own address as route, public',
    drops: { own_address: 1 },
    run: dropped((stage) => stage.ufrag(stage.front)),
  },
  {
    name: 'our own address as route, internal',
    drops: { own_address: 1 },
    run: dropped((stage) => stage.ufrag(stage.relay.workers.at(-1)!.sockets.upstream.local)),
  },
  {
    name: 'STUN without USERNAME (relay 15): follows a live route, and is answered by nobody without one',
    drops: { no_route: 1 },
    async run(stage) {
      const [one] = stage.transceivers
      const [client, stranger] = [await stage.client(), await stage.client()]
      const bare = stunMessage(0x0001, [])
      await stage.connect(client, one, stage.ufrag(one.local))
      client.send(bare)
      await one.got(bare)
      stranger.send(bare)
      await stage.assertBystander()
      assert.equal(stranger.received.length, 0)
    },
  },
  {
    name: 'two USERNAMEs: the first counts',
    drops: { unroutable_ufrag: 1 },
    async run(stage) {
      const [one, two] = stage.transceivers
      const client = await stage.client()
      const ufrags = [stage.ufrag(one.local), stage.ufrag(two.local)] as const
      const both = (a: string, b: string): Buffer =>
        stunMessage(0x0001, [attribute(USERNAME, `${a}:c`), attribute(USERNAME, `${b}:c`)])
      client.send(both(forged(ufrags[1]), ufrags[1]))
      client.send(both(...ufrags))
      await one.got(both(...ufrags))
      await stage.assertBystander()
      assert.equal(two.frames.length, 0)
    },
  },
  {
    name: '513-byte USERNAME (relay 8): is the longest there is',
    drops: { bad_ufrag: 1 },
    async run(stage) {
      const [one] = stage.transceivers
      const ufrag = stage.ufrag(one.local)
      const client = await stage.client()
      const longest = bindingRequest(`${ufrag}:`.padEnd(513, 'c'))
      client.send(longest)
      await one.got(longest)
      client.send(bindingRequest(`${ufrag}:`.padEnd(514, 'c')))
    },
  },
  {
    name: 'an attribute of 13 bytes before the USERNAME (relay 11): its padding is passed over',
    drops: {},
    async run(stage) {
      const [one] = stage.transceivers
      const name = attribute(USERNAME, `${stage.ufrag(one.local)}:c`)
      const check = stunMessage(0x0001, [attribute(0x8022, 'thirteen byte'), name])
      ;(await stage.client()).send(check)
      await one.got(check)
    },
  },
]
