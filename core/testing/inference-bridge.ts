/** The conformance kit of inference bridges: what the transceiver relies on, whatever the backend. */

import { checksOfAll, checkWithoutBackend } from './bridge/always.ts'
import { checksOfEchoes } from './bridge/echoes.ts'
import type { MakeBridge } from './bridge/in-call.ts'
import { type BridgeTurns, checksOfTurns } from './bridge/turns.ts'
import { type Check, registerChecks } from './check.ts'

/** What a bridge claims. */
export interface BridgeClaims {
  /** True when audio and events come back as they went, as with an echo behind it. Default false. */
  readonly echoes?: boolean
  /** For a bridge that answers in turns and can be interrupted: how that is done. */
  readonly turns?: BridgeTurns
  /** How much it plays at most while there is no room. Default 1000. */
  readonly aheadMs?: number
  /** A bridge whose backend cannot be reached, where there is a backend. */
  readonly broken?: MakeBridge
}

/** Registers the kit's tests for a bridge. */
export function checkInferenceBridge(name: string, make: MakeBridge, claims: BridgeClaims = {}): void {
  registerChecks(`${name} keeps the inference bridge contract`, inferenceBridgeChecks(make, claims))
}

/** The kit's checks, to run by hand. */
export function inferenceBridgeChecks(make: MakeBridge, claims: BridgeClaims = {}): Check[] {
  const { echoes, turns, aheadMs = 1000, broken } = claims
  return [
    ...checksOfAll(make),
    ...(echoes ? checksOfEchoes(make, aheadMs) : []),
    ...(turns ? checksOfTurns(make, turns, aheadMs) : []),
    ...(broken ? [checkWithoutBackend(broken)] : []),
  ]
}
