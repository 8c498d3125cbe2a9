/** The relay's bounds and timers. Not options: an operator who could loosen them could only lose by it. */

import { MAX_DATAGRAM, SPP_LENGTH } from '../../../core/index.ts'

/** The longest datagram from a client that is still one when framed; a tag takes nine bytes more. Bytes. */
export const MAX_CLIENT_DATAGRAM = MAX_DATAGRAM - SPP_LENGTH

/** A pending route, a recovered one, and a flow that was never confirmed, live this long. Milliseconds. */
export const UNCONFIRMED_MS = 5_000

/** A confirmed flow lives this long after its last success response. Milliseconds. */
export const CONFIRMED_MS = 30_000

/** A live route this long without a success ends when the other is fresher: RFC 7675 checks are up to 6 s apart. */
export const FRESH_MS = 13_000

/** A relay that drains leaves when no transceiver has sent anything for this long: ours report every second. */
export const QUIET_MS = 3_000

/** Routes of one flow that carry media (live or recovered), and routes that wait for their first success. */
export const MAX_CARRYING = 2
export const MAX_PENDING = 2

/** Ufrags that one route of a flow knows by heart: the current one and the one of an ICE restart. */
export const UFRAGS_PER_ROUTE = 2

/** Client addresses that one ufrag may be used from at a time. */
export const CLIENTS_PER_UFRAG = 8

/** Packets a second of one ufrag that go to routes without a success yet. */
export const UNCONFIRMED_PER_SECOND = 50

/** What a codec may write (its contract), so what is worth decoding. */
export const MIN_UFRAG = 4
export const MAX_UFRAG = 96

/** Ufrags remembered beyond those in use, good and bad together. */
export const IDLE_UFRAGS = 4_096

/** How long a decoded ufrag is remembered when no flow uses it, and one that did not decode. Milliseconds. */
export const GOOD_UFRAG_MS = 60_000
export const BAD_UFRAG_MS = 5_000

/** Decodes a second in all, and for the clients of one /24 or /48. */
export const DECODES_PER_SECOND = 10_000
export const DECODES_PER_PREFIX = 500

/**
 * Look-ups started a second, how long one may take, how long one that the store knew nothing of is not repeated, and
 * how long one that it did not answer: a relay that has just started may be ahead of its store. Milliseconds.
 */
export const LOOK_UPS_PER_SECOND = 500
export const LOOK_UP_MS = 1_000
export const FRUITLESS_MS = 5_000
export const FAILED_MS = 100

/** The recovery store hears of a flow that goes on at most this often. Its entries live 30 s. Milliseconds. */
export const REMEMBER_MS = 5_000

/** Spans a second that tell of a first request, which anybody can send; and of all else that happens to flows. */
export const OPEN_SPANS_PER_SECOND = 50
export const CALL_SPANS_PER_SECOND = 200

/** Addresses that an answer should carry, so that it stays small. */
export const MAX_INGRESS = 4

/** Clients at a time towards servers that know nothing of relays: each has a socket. */
export const NAT_FLOWS = 4_096
