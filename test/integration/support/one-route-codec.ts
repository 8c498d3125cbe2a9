/**
 * A routing codec for tests of the relay: every ufrag leads to one transceiver, in any thread. In another thread it also
 * knows how to fail.
 */

import { type Address, parseAddress, type RoutingCodec } from '../../../core/index.ts'

/** A codec whose routes all lead to `transceiver`; the ufrag `evil` is one that it cannot take. */
export function oneRoute(transceiver: Address): RoutingCodec {
  return {
    encode: () => 'call1',
    decode(text, start, end) {
      if (Buffer.from(text.subarray(start, end)).equals(EVIL)) throw new Error('broken')
      return { cluster: 1, address: transceiver, session: Buffer.alloc(8, 1) }
    },
    portable: { module: import.meta.url, data: transceiver.toString() },
  }
}

const EVIL = Buffer.from('evil')

/** The same in another thread. The ufrag `stuck` keeps that thread for good. */
export function fromPortable(data: unknown): RoutingCodec {
  const codec = oneRoute(parseAddress(String(data))!)
  return {
    encode: codec.encode,
    decode(text, start, end, label) {
      while (Buffer.from(text.subarray(start, end)).equals(STUCK));
      return codec.decode(text, start, end, label)
    },
  }
}

const STUCK = Buffer.from('stuck')
