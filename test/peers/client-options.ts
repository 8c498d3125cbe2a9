/** How a test client behaves. */

import { Address, type UdpEngine } from '../../core/index.ts'
import type { DtlsIdentity } from '../../plugins/transceiver/peer/dtls-context.ts'
import type { Credentials } from './checks.ts'
import type { OfferOptions } from './offer.ts'

/** Everything has a default: a browser's, where a browser has one. */
export interface ClientOptions extends Partial<Omit<OfferOptions, 'fingerprint' | 'ufrag' | 'pwd'>> {
  readonly engine?: UdpEngine
  /** Default 127.0.0.1, any port. */
  readonly bind?: Address
  /** Send here, whatever the answer's candidates are: a hop that rewrites addresses, say. */
  readonly via?: Address
  readonly credentials?: Credentials
  readonly identity?: DtlsIdentity
  /** Milliseconds between checks; Infinity for none after the first. Default 2500. */
  readonly checkEveryMs?: number
  /** False: what comes in is counted, not kept; for load. Default true. */
  readonly keep?: boolean
  /** The data channel's label. Default `oai-events`. */
  readonly label?: string
  /** The data channel is set up with this id, without a word (`negotiated: true`). */
  readonly channelId?: number
  /** How long `connected` waits. Default 10 s. */
  readonly timeoutMs?: number
}

/** 127.0.0.1, any port. */
export function loopback(): Address {
  return new Address().set(0, 0, 0xffff, 0x7f000001, 0)
}
