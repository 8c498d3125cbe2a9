/** What a relay's main thread and its worker threads say to each other, away from the packet path. All of it clones. */

import type { DatagramLoopOptions, FrameKey } from '../../../core/index.ts'
import type { SharedWords } from '../pure/relay-memory.ts'

/** What a worker thread is given at its start. */
export interface ThreadData {
  readonly loop: DatagramLoopOptions
  /** The relay's memory: see relayMemory. */
  readonly memory: SharedWords
  /** Those of the other workers, to read. */
  readonly others: readonly SharedWords[]
  readonly ring: SharedArrayBuffer
  readonly codec: { readonly module: string; readonly data: unknown }
  /** Frames have tags by these. */
  readonly frameKeys: readonly FrameKey[] | undefined
  /**
   * Addresses as text. The loop's sockets are these, in this order, then the framed one, the one that hears other relays
   * if there is one, and those towards other relays.
   */
  readonly locals: readonly string[]
  readonly own: readonly string[]
  readonly cluster: number
  readonly cidrs: readonly string[]
  readonly ports: { readonly first: number; readonly last: number }
  readonly maxFlows: number
  readonly seed: number
  /** Unknown clients are asked for. */
  readonly hasStore: boolean
  readonly relays: {
    /** CIDRs of those that may send to us; undefined where none may. */
    readonly trusted: readonly string[] | undefined
    /** Sockets towards them. */
    readonly spread: number
    /** The memory of previous hops: see HopTable. */
    readonly hops: SharedArrayBuffer
  }
  readonly clusters: readonly ClusterText[]
}

/** Where the relay of another cluster is, the address as text; undefined while that is not known. */
export interface ClusterText {
  readonly cluster: number
  readonly relay: string | undefined
}

/** To a worker; it is woken for each. */
export type Command =
  /** The codec is made anew, from this. */
  | { readonly type: 'codec'; readonly data: unknown }
  /** The relay of another cluster is there from now on. */
  | ({ readonly type: 'cluster' } & ClusterText)
  /** The end of a look-up: what the store knew, and how long the client is not looked up again, unless `found` can be used. */
  | {
      readonly type: 'found'
      readonly id: number
      readonly found: FoundText | undefined
      readonly pauseMs: number
    }

/** What the recovery store knew, the address as text. */
export interface FoundText {
  readonly cluster: number
  readonly transceiver: string
  readonly session: Uint8Array
}

/** From a worker. */
export type Report =
  /** The loop begins. */
  | { readonly type: 'runs' }
  /** There is something in the ring. */
  | { readonly type: 'events' }
  /** A client is unknown; answered by `found`. */
  | { readonly type: 'unknown'; readonly id: number; readonly local: number; readonly client: string }
  /** What became of `found`: whether a route was made of it. */
  | { readonly type: 'used'; readonly id: number; readonly isUsed: boolean }
