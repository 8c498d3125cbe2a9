/**
 * What lies in a relay's memory: the header's words, and the fields of the four kinds of record. A reference is the
 * index of a record's first word, 0 stands for none. All words are signed 32-bit; times are the low 32 bits of
 * milliseconds, so only differences of them mean anything, taken by `| 0` or `>>> 0`.
 */

/** Words of the header, behind which the tables begin. */
export const HEADER_WORDS = 256

/** What the memory is, how many flows it is for, the seed's 48 bits and whether it has one yet. */
export const HEADER_MAGIC = 0
export const HEADER_MAX_FLOWS = 1
export const HEADER_SEED_LOW = 2
export const HEADER_SEED_HIGH = 3
export const HEADER_IS_SEEDED = 4
/** Not 0 while a change is half done: whoever carries on finds out that the last one died in it. */
export const HEADER_IS_CHANGING = 5
/** When the decode budget's second began, and how many were decoded in it. */
export const HEADER_BUDGET_AT = 6
export const HEADER_BUDGET_SPENT = 7
/** Pools, two words each: the first free record, and how many have ever been taken. */
export const HEADER_FLOW_POOL = 8
export const HEADER_ROUTE_POOL = 10
export const HEADER_UFRAG_POOL = 12
export const HEADER_UPSTREAM_POOL = 14
/** Lists, three words each: the oldest, the newest, how many. */
export const HEADER_UNCONFIRMED = 16
export const HEADER_CONFIRMED = 19
export const HEADER_WAITING = 22
export const HEADER_IDLE = 25
/** Counters are 64-bit floats: the first one's index among floats. There is room for 96. */
export const HEADER_COUNTERS = 32

/** A flow and the first of its routes lie beside each other, a cache line each. */
export const FLOW_WORDS = 32
/** The client's ip in four words; then port << 16 | local << 2 | state. */
export const FLOW_W0 = 0
export const FLOW_W1 = 1
export const FLOW_W2 = 2
export const FLOW_W3 = 3
export const FLOW_KEY = 4
/** The next flow of its bucket, or the next free record. */
export const FLOW_NEXT = 5
export const FLOW_OLDER = 6
export const FLOW_NEWER = 7
export const FLOW_OPENED = 8
/** When it ends, unless a success comes first. */
export const FLOW_UNTIL = 9
/** The first of its chain of routes. */
export const FLOW_ROUTE = 10
export const FLOW_PACKETS_UP = 11
export const FLOW_PACKETS_DOWN = 12
/** Low 32 bits of both counts of bytes; the next 16 of `up` above those of `down`. */
export const FLOW_BYTES_UP = 13
export const FLOW_BYTES_DOWN = 14
export const FLOW_BYTES_HIGH = 15
/** Where its own place for a route begins; a flow with more than one has the others in the pool. */
export const FLOW_HOME = 16

/** The state in FLOW_KEY; 0 is a free record. */
export const FLOW_STATE = 3
export const FLOW_UNCONFIRMED = 1
export const FLOW_CONFIRMED = 2
/** Public sockets and previous hops, together, that a key has room for. */
export const MAX_LOCALS = 1 << 14

/** A route of a flow. */
export const ROUTE_WORDS = 16
/** The next route of its flow, or the next free record. */
export const ROUTE_NEXT = 0
export const ROUTE_FLOW = 1
/** Its kind and flags. */
export const ROUTE_STATE = 2
export const ROUTE_UPSTREAM = 3
export const ROUTE_OPENED = 4
/** When a pending or recovered route ends. */
export const ROUTE_UNTIL = 5
/** Of a live route: the latest success, and when the recovery store last heard of it. */
export const ROUTE_SUCCESS = 6
export const ROUTE_REMEMBERED = 7
/** The session whose request came last before the latest success, 8 bytes; for spans and the store, never a key. */
export const ROUTE_SESSION = 8
/** The ufrags it is known by, two words; then for each the next route (and which of its two) that holds it too. */
export const ROUTE_UFRAG = 10
export const ROUTE_HOLDER = 12
export const ROUTE_OLDER = 14
export const ROUTE_NEWER = 15

/** Kinds in ROUTE_STATE; 0 is a free record. */
export const ROUTE_KIND = 3
export const ROUTE_PENDING = 1
export const ROUTE_RECOVERED = 2
export const ROUTE_LIVE = 3
/** The ufrag that made the last request: the second of the two. */
export const ROUTE_IS_SECOND = 4
/** The live route that became so first. */
export const ROUTE_IS_INCUMBENT = 8

/** A ufrag that was met. */
export const UFRAG_WORDS = 13
/** Four words of keyed digest. */
export const UFRAG_DIGEST = 0
/** The next ufrag of its bucket, or the next free record. */
export const UFRAG_NEXT = 4
/** Of one that is held: the first holder, a route's reference plus which of its ufrags. Of an idle one: links. */
export const UFRAG_HOLDER = 5
export const UFRAG_OLDER = 5
export const UFRAG_NEWER = 6
/** When it is forgotten unless a flow holds it. */
export const UFRAG_UNTIL = 7
/** When the second began in which so many unconfirmed packets were spent. */
export const UFRAG_WINDOW_AT = 8
/** Counts and flags. */
export const UFRAG_STATE = 9
/** Where it leads; 0 when it leads nowhere. */
export const UFRAG_UPSTREAM = 10
export const UFRAG_SESSION = 11

/** In UFRAG_STATE: a record in use, one that a route holds; packets spent, clients, and the refusal's number + 1. */
export const UFRAG_IS_USED = 1
export const UFRAG_IS_HELD = 2
export const UFRAG_SPENT = 8
export const UFRAG_CLIENTS = 16
export const UFRAG_REFUSAL = 24

/** A transceiver's address. */
export const UPSTREAM_WORDS = 8
export const UPSTREAM_W0 = 0
export const UPSTREAM_W1 = 1
export const UPSTREAM_W2 = 2
export const UPSTREAM_W3 = 3
/** 0 in a free record. */
export const UPSTREAM_PORT = 4
/** Routes and ufrags that lead there. */
export const UPSTREAM_REFERENCES = 5
export const UPSTREAM_NEXT = 6
/** Of another cluster's relay, 1 + the cluster; 0 of a transceiver of ours. */
export const UPSTREAM_CLUSTER = 7
