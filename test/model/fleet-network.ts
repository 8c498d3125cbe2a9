/**
 * What lies between relays and transceivers: a framed datagram reaches whoever is at its address, when it is somebody
 * that datagrams of its kind may go to.
 */

import { Address, readSpp, SPP_LENGTH, writeSpp } from '../../core/index.ts'
import { keyOf } from './fleet-front.ts'
import type { FleetRelay } from './fleet-relay.ts'
import type { FleetTransceiver } from './fleet-transceiver.ts'

/** From a relay to a transceiver, from a relay to one of another cluster, or from either back to a relay. */
export type InternalWay = 'up' | 'across' | 'back'

type Receiver = (from: Address, bytes: Buffer) => void

/** Everybody who has a socket there. */
export class FleetNetwork {
  /** Datagrams that went where nobody is who may get such. */
  astray = 0
  /** Datagrams that were sent, and of those the ones from a relay to one of another cluster. */
  sent = 0
  across = 0
  readonly #post: (arrive: () => void) => void
  readonly #receivers = {
    up: new Map<number, Receiver>(),
    across: new Map<number, Receiver>(),
    back: new Map<number, Receiver>(),
  }

  /** `post` lets something arrive after what is on its way already. */
  constructor(post: (arrive: () => void) => void) {
    this.#post = post
  }

  addRelay(relay: FleetRelay): void {
    const { back, across } = this.#receivers
    across.set(keyOf(relay.internal), (from, bytes) => relay.fromRelay(from, bytes))
    for (const socket of [relay.upstream, ...relay.spread]) {
      back.set(keyOf(socket), (from, bytes) => relay.fromTransceiver(from, bytes))
    }
  }

  addTransceiver(transceiver: FleetTransceiver): void {
    this.#receivers.up.set(keyOf(transceiver.address), (relay, bytes) => {
      const [client, local] = [new Address(), new Address()]
      if (readSpp(bytes, 0, bytes.length, client, local)) {
        transceiver.receive({ relay, local, client }, bytes.subarray(SPP_LENGTH))
      }
    })
  }

  /** A framed datagram is on its way; `from` is kept, and `bytes` are the receiver's. */
  send(way: InternalWay, from: Address, to: Address, bytes: Buffer): void {
    const receiver = this.#receivers[way].get(keyOf(to))
    this.sent++
    if (way === 'across') this.across++
    if (receiver) this.#post(() => receiver(from, bytes))
    else this.astray++
  }
}

/** A datagram for or of a client that sends to `front`, framed. */
export function frame(client: Address, front: Address, payload: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
  writeSpp(bytes, 0, client, front)
  return bytes
}
