/** A worker of the relay, wherever it runs: its state to look at, its sockets, and what can be told of it. */

import type { Decision } from './pure/decision.ts'
import type { FlowView } from './pure/flow-view.ts'
import type { RelayState } from './pure/relay-state.ts'
import type { RelaySockets } from './sockets.ts'

/** One of a relay's workers. */
export interface RelayWorker {
  /** To look at from the main thread: counters and flows. */
  readonly state: RelayState
  readonly sockets: RelaySockets
  /** Of a worker in a thread of its own. */
  readonly thread: WorkerThread | undefined
  /** Ends the worker and closes its sockets. */
  close(): Promise<void>
}

/** Hears, in the main thread, what a worker's flows go through; what it is given is used again. */
export interface FlowListener {
  /** A route was opened or confirmed, or the store should hear of it again. */
  onFlowEvent(now: number, decision: Decision): void
  onFlowEnd(now: number, flow: FlowView): void
}

/** A worker's thread. */
export interface WorkerThread {
  /** Batches received, and milliseconds not spent waiting, since the start. */
  readonly batches: number
  readonly busyMs: number
  /** Threads that were replaced. */
  readonly restarts: number
  /** Flow events that had no room on their way to the main thread, by kind. */
  lost(kind: 'opened' | 'confirmed' | 'refreshed' | 'ended'): number
  /** Ends the thread as a fault of its own would; it is replaced. */
  kill(): Promise<void>
}
