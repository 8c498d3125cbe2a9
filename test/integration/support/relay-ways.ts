/** The ways in which a relay can work, for tests that hold for all of them. */

import type { Address, UdpCounters, UdpEngine } from '../../../core/index.ts'
import { batchedEngine } from '../../../core/udp/batched-engine.ts'
import { dgramEngine } from '../../../core/udp/dgram-engine.ts'
import type { RelayPluginOptions } from '../../../plugins/relay/options.ts'
import type { RelayState } from '../../../plugins/relay/pure/relay-state.ts'
import type { Relay } from '../../../plugins/relay/relay.ts'

type WorkerOptions = Pick<
  RelayPluginOptions,
  'framing' | 'workers' | 'pin' | 'segments' | 'coalesceMicroseconds'
>

/** One way. */
export interface Way {
  readonly name: string
  readonly udp: UdpEngine
  readonly options: WorkerOptions
  /** For `describe`: skipped where the machine cannot. */
  readonly needs: { readonly skip: string | false }
}

/** Options of a relay without threads. */
export const IN_EVENT_LOOP: WorkerOptions = {
  framing: 'spp',
  workers: 0,
  pin: false,
  segments: false,
  coalesceMicroseconds: 0,
}

const batched = batchedEngine()
const udp = batched ?? dgramEngine
const needs = { skip: batched ? false : 'no system calls for UDP in batches here' } as const

/** Ways with threads. */
export const THREADS: readonly Way[] = [
  { name: 'in a thread', udp, needs, options: { ...IN_EVENT_LOOP, workers: 1 } },
  { name: 'in two threads', udp, needs, options: { ...IN_EVENT_LOOP, workers: 2, pin: true } },
  {
    name: 'in a thread that gathers datagrams',
    udp,
    needs,
    options: { ...IN_EVENT_LOOP, workers: 1, segments: true, coalesceMicroseconds: 300 },
  },
]

/** All ways. */
export const WAYS: readonly Way[] = [
  { name: 'in the event loop', udp: dgramEngine, needs: { skip: false }, options: IN_EVENT_LOOP },
  { name: 'in the event loop, in batches', udp, needs, options: IN_EVENT_LOOP },
  ...THREADS,
]

/** The public socket number `local`, of all workers together. */
export function bound(relay: Relay, local: number): { local: Address; counters(): UdpCounters } {
  const sockets = relay.workers.map((worker) => worker.sockets.publics[local]!)
  const count = (of: (counters: Readonly<UdpCounters>) => number): number =>
    sockets.reduce((sum, { counters }) => sum + of(counters), 0)
  return {
    local: sockets[0]!.local,
    counters: () => ({
      received: count(({ received }) => received),
      sent: count(({ sent }) => sent),
      truncated: count(({ truncated }) => truncated),
      receiveErrors: count(({ receiveErrors }) => receiveErrors),
      sendErrors: count(({ sendErrors }) => sendErrors),
    }),
  }
}

/** Numbers of a relay's state, of all workers together. */
export function total(relay: Relay, of: (state: RelayState) => number[]): number[] {
  return relay.workers.map(({ state }) => of(state)).reduce((a, b) => a.map((n, i) => n + b[i]!))
}
