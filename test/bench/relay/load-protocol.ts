/** What the load's process and the benchmark say to each other. */

/** How a relay is told where a call's transceiver is: by a sealed ufrag, or by hex digits as the C and Go relays read them. */
export type UfragForm = 'sealed' | 'hex'

/** Sent once, when the load is ready. */
export interface LoadReady {
  /** The transceiver's port at 127.0.0.1. */
  readonly transceiver: number
}

/** One sample to take. */
export interface Order {
  /** The relay's port at 127.0.0.1, and its process. */
  readonly port: number
  readonly pid: number
  readonly form: UfragForm
  readonly flows: number
  /** Media datagrams a second from the clients; each comes back, so the relay forwards twice as many. */
  readonly rate: number
  /** Of one client, sent at once. */
  readonly train: number
  readonly warmMs: number
  readonly measureMs: number
  /** At the end, what is missing is lost when nothing has come for so long. Left out, as a quiet machine needs it. */
  readonly patienceMs?: number
}

/** What was seen. */
export interface Sample {
  /** Media sent while it was measured, and the part of it that did not come back. */
  readonly sent: number
  readonly loss: number
  /** Both directions, counted where they arrive. */
  readonly forwarded: number
  /** The same, whatever else the order needed counted in: requests, warming up. */
  readonly forwardedInAll: number
  readonly seconds: number
  /** CPU time of the relay's process meanwhile, all threads, and how long its threads waited for a processor. */
  readonly cpuNs: number
  readonly waitNs: number
  readonly residentBytes: number
  /** Round trips: client, relay, transceiver, relay, client. Microseconds. */
  readonly p50: number
  readonly p99: number
  /** The part of its time that the load had its processor: it never sleeps. */
  readonly loadShare: number
  /** The part of the time that the hypervisor took away. */
  readonly stolenShare: number
  /** The part of the datagrams that was due and not sent, since the load could not keep up. */
  readonly skipped: number
}

/** An answer to an order. */
export type Answer = { readonly sample: Sample } | { readonly failure: string }

/** The key and the session of every sealed ufrag of the load. No secret: it opens nothing but this benchmark. */
export const LOAD_KEY = { id: 1, key: '00112233445566778899aabbccddeeff' }
