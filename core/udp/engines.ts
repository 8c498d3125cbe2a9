/** Which UDP engine this process uses. */

import type { UdpEngine } from '../contracts/udp-port.ts'
import { batchedEngine } from './batched-engine.ts'
import { dgramEngine } from './dgram-engine.ts'

/** What the operator may ask for; `auto` takes the faster one that works here. */
export type EngineName = 'auto' | 'batched' | 'dgram'

/** The engine for this platform. */
export function defaultEngine(): UdpEngine {
  return batchedEngine() ?? dgramEngine
}

/** The engine that was asked for, or `dgram` where it does not work; `warn` is called once with the reason then. */
export function chooseEngine(wanted: EngineName, warn: (reason: string) => void): UdpEngine {
  if (wanted === 'dgram') return dgramEngine
  const batched = batchedEngine()
  if (batched) return batched
  if (wanted === 'batched' || process.platform === 'linux') {
    warn(
      'UDP in batches needs 64-bit Linux and the koffi package built for it: going on with node:dgram, which costs more CPU a packet',
    )
  }
  return dgramEngine
}
