/** Attacks on the socket that hears relays of other clusters. */

import { Address, parseAddress, SPP_LENGTH, writeSpp } from '../../../core/index.ts'
import type { Attack } from './attack.ts'
import { type Stage, SUCCESS } from './attack-stage.ts'

/** Where relays of other clusters are. */
export const RELAYS = '127.0.0.2/32'

const CLIENT = parseAddress('198.51.100.7:4000')!

function framed(payload: Uint8Array, client = CLIENT): Buffer {
  const datagram = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
  writeSpp(datagram, 0, client, new Address())
  return datagram
}

function from(host: string, datagram: (stage: Stage) => Uint8Array): Attack['run'] {
  return async (stage) => (await stage.peer(host)).sayBare(stage.internal!, datagram(stage))
}

const own = (stage: Stage): Buffer => stage.check(stage.ufrag(stage.transceivers[0].local))

/** The rows. */
export const BETWEEN_RELAYS: readonly Attack[] = [
  {
    name: 'own route on the internal socket: goes to its transceiver, and the answer back to the relay',
    drops: {},
    async run(stage) {
      const [one] = stage.transceivers
      const relay = await stage.peer('127.0.0.2')
      const check = own(stage)
      relay.sayBare(stage.internal!, framed(check))
      one.say(await one.got(check), SUCCESS)
      await relay.got(SUCCESS)
    },
  },
  {
    name: 'foreign cluster’s route on the internal socket',
    drops: { foreign_from_relay: 1 },
    run: from('127.0.0.2', (stage) => framed(stage.check(stage.ufrag(stage.transceivers[0].local, 2)))),
  },
  {
    name: 'framing from an untrusted host on the internal socket',
    drops: { untrusted_relay: 1 },
    run: from('127.0.0.3', (stage) => framed(own(stage))),
  },
  {
    name: 'a bare check on the internal socket',
    drops: { bad_frame: 1 },
    run: from('127.0.0.2', own),
  },
  {
    name: 'a frame with nothing in it on the internal socket',
    drops: { empty: 1 },
    run: from('127.0.0.2', () => framed(Buffer.alloc(0))),
  },
  {
    name: 'our own address as a client’s on the internal socket',
    drops: { bad_source: 1 },
    run: from('127.0.0.2', (stage) => framed(own(stage), stage.front)),
  },
]
