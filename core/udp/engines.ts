/** Which UDP engine this process uses. */

import type { UdpEngine } from '../contracts/udp-port.ts'
import { dgramEngine } from './dgram-engine.ts'

/** The engine for this platform. */
export function defaultEngine(): UdpEngine {
  return dgramEngine
}
