/** Whether the relay works in threads of its own, and in how many. */

import { availableParallelism } from 'node:os'
import type { Context, PortableCodec, RoutingCodec, ThreadUdp } from '../../../core/index.ts'
import type { RelayPluginOptions } from '../options.ts'

/** What threads need. */
export interface ThreadPlan {
  readonly udp: ThreadUdp
  readonly codec: PortableCodec
  readonly threads: number
  /** Each stays on a processor of its own. */
  readonly pins: boolean
}

/**
 * The plan, or undefined for the event loop. `auto` is one thread where there are two processors or more: it forwards as
 * much as some thousand calls need, whatever the event loop does meanwhile. Threads that were asked for and cannot be had
 * are told of once.
 */
export function planThreads(
  { workers, pin, framing }: Pick<RelayPluginOptions, 'workers' | 'pin' | 'framing'>,
  codec: RoutingCodec,
  { udp, log }: Pick<Context, 'udp' | 'log'>,
): ThreadPlan | undefined {
  const threads = workers === 'auto' ? (availableParallelism() > 1 ? 1 : 0) : workers
  if (threads === 0) return undefined
  if (framing === 'nat') {
    log.info('with "framing": "nat" each client has a socket of its own: the relay works in the event loop')
    return undefined
  }
  const calls = udp.threads
  if (calls && codec.portable) {
    const pins = pin && threads > 1 && threads <= calls.cpus.length
    return { udp: calls, codec: codec.portable, threads, pins }
  }
  // The engine has said so itself, where it was not chosen.
  if (calls)
    log.info(
      'the routing codec cannot be had in other threads (it has no "portable"): the relay works in the event loop',
    )
  else if (workers !== 'auto')
    log.warn(
      `"workers": ${workers} needs UDP in batches, and "${udp.name}" is in use: the relay works in the event loop`,
    )
  return undefined
}

/** The processor of the i-th thread. */
export function cpuOf({ cpus }: ThreadUdp, i: number): number | undefined {
  return cpus[i % cpus.length]
}
