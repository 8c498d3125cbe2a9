/** What the table of calls stands on, and what it counts. */

import type { Tracer } from '@opentelemetry/api'
import type { Address, CallTracing, InferenceBridge, RoutingCodec } from '../../core/index.ts'
import type { CallCounters as Losses } from './call.ts'
import type { CallTimings } from './call-timings.ts'
import type { OpusSettings } from './media/opus-encoder.ts'
import type { DtlsIdentity } from './peer/dtls-context.ts'
import type { Limits } from './signaling/limits.ts'
import type { EndedCall } from './tell-end.ts'

/** What the sessions stand on. */
export interface SessionsOptions {
  readonly cluster: number
  /** Where relays reach our socket: what routes say. */
  readonly address: Address
  /** What answers advertise. */
  readonly advertise: readonly Address[]
  readonly codec: RoutingCodec
  readonly bridge: InferenceBridge
  readonly identity: DtlsIdentity
  readonly tracer: Tracer
  readonly tracing: CallTracing
  /** How to encode; for voice unless given. */
  readonly opus?: OpusSettings
  readonly maxCalls: number
  /** How many of them one key may have; no limit without. */
  readonly limits?: Limits
  readonly connectMs: number
  readonly maxCallMs: number
  readonly timings?: CallTimings
  /** Hears of each call's start, for logs; `ip` is set where no key tells callers apart. */
  onStarted?(call: { id: string; caller: string; ip: string | undefined }): void
  /** Hears of each call's end, for logs. */
  onEnded(call: EndedCall): void
}

/** Why calls end, as counted; a bridge may give any reason of its own, which counts as `bridge_ended`. */
export const END_REASONS: ReadonlySet<string> = new Set([
  ...['hang_up', 'peer_closed', 'peer_gone', 'channel_closed', 'dtls_failed', 'connect_timeout'],
  ...['bridge_ended', 'bridge_failed', 'max_call_duration', 'draining', 'shutdown', 'internal'],
])

/** Counters of calls since the start; gauges are read from the sessions themselves. */
export interface CallCounters {
  started: number
  readonly ended: Map<string, number>
  readonly refused: Map<string, number>
  /** What slow bridges and closed channels have cost, in all calls together. */
  readonly lost: Losses
}

/** One more under a name. */
export function count(into: Map<string, number>, name: string): void {
  into.set(name, (into.get(name) ?? 0) + 1)
}
