/** What can be done to a relay, one thing after another. */

import { at, DTLS, ERROR, INDICATION, MEDIA, REQUEST_DOWN } from '../simulated-relay.ts'

/** Transceivers 0 to 3; ufrag number n, when it is good, leads to transceiver n % 4. */
export const TRANSCEIVERS = ['10.0.0.1:3479', '10.0.0.2:3479', '10.0.0.3:3479', '10.0.0.4:3479'] as const
/** Where the relay of cluster 2 is, one after another. */
export const ABROAD = ['10.2.0.4:3490', '10.2.0.5:3490'] as const
/** Who may answer: the last one is a relay in front of ours, and never asked. */
export const SERVERS = [...TRANSCEIVERS, ...ABROAD, '10.9.0.1:3500'] as const

/** Clusters that the operator names besides our own, which is 1; where the relay of 3 is, is never known. */
export const CLUSTERS = [2, 3] as const
const GOOD = Array.from({ length: 12 }, (_, n) => ({
  name: `good${n}`,
  cluster: 1,
  to: TRANSCEIVERS[n % TRANSCEIVERS.length]!,
}))
/** Ufrags by number: good ones first, and behind those that a codec wrote some that are forged. */
export const UFRAGS: readonly { readonly name: string; readonly cluster: number; readonly to: string }[] = [
  ...GOOD,
  { name: 'abroad0', cluster: 2, to: '10.2.0.1:3479' },
  { name: 'abroad1', cluster: 2, to: '10.0.0.1:3479' },
  { name: 'nowhere', cluster: 3, to: '10.0.0.2:3479' },
  { name: 'unnamed', cluster: 4, to: '10.0.0.3:3479' },
]
export const GOOD_UFRAGS = GOOD.length
export const ALL_UFRAGS = UFRAGS.length + 4

/** Public sockets that clients use. */
export const SOCKETS = [0, 2] as const
/**
 * Previous hops: a relay, its other port, another address of its own, and another relay, whose clients send to the same
 * address as ours.
 */
export const HOPS = [
  { relay: at('10.9.0.1:3500'), proxy: at('203.0.113.99:3478') },
  { relay: at('10.9.0.1:3501'), proxy: at('203.0.113.99:3478') },
  { relay: at('10.9.0.1:3500'), proxy: at('[2001:db8::99]:3478') },
  { relay: at('10.9.0.2:3500'), proxy: at('203.0.113.10:3478') },
] as const
/** Ways from a client to the relay: to a public socket, or by a hop. */
export const WAYS = SOCKETS.length + HOPS.length

/** What is sent besides checks and their successes. */
export const PAYLOADS = {
  media: MEDIA,
  dtls: DTLS,
  request: REQUEST_DOWN,
  indication: INDICATION,
  error: ERROR,
}

/** What may be wrong with a frame from another relay, and why it is dropped then. */
export const BAD_FRAMES = {
  stranger: 'untrusted_relay',
  bare: 'bad_frame',
  cut: 'bad_frame',
  empty: 'empty',
  nested: 'framing',
  ourselves: 'bad_source',
  nobody: 'bad_source',
} as const

/** What is done next; numbers are taken modulo how many there are of what they name. */
export type Step =
  | { type: 'check'; client: number; way: number; ufrag: number; times: number }
  | { type: 'crowd'; ufrag: number; way: number }
  | { type: 'up'; client: number; way: number; what: 'media' | 'dtls' | 'success' | 'indication' }
  | { type: 'garbage'; client: number; way: number; bytes: Uint8Array }
  | { type: 'bad-frame'; client: number; ufrag: number; hop: number; what: keyof typeof BAD_FRAMES }
  | { type: 'answer'; client: number; way: number; server: number }
  | { type: 'down'; client: number; way: number; server: number; what: keyof typeof PAYLOADS }
  | { type: 'recover'; client: number; way: number; server: number }
  | { type: 'found'; server: number }
  | { type: 'wait'; ms: number }
  | { type: 'sweep'; limit: number }
  /** A worker is replaced, in the middle of a change or not. */
  | { type: 'attach'; isChanging: boolean }
