/** An attack on a relay, as a row of a test. */

import type { DropReason } from '../../../plugins/relay/pure/drop-reasons.ts'
import type { Stage } from './attack-stage.ts'

/** What is tried, and the drops that it must be counted by; there must be no others. */
export interface Attack {
  readonly name: string
  readonly drops: Partial<Record<DropReason, number>>
  /** Resolves when everything was sent and what must arrive has arrived. */
  run(stage: Stage): Promise<void>
}

/** The same ufrag with one letter changed. */
export function forged(ufrag: string): string {
  return `${ufrag.slice(0, 30)}${ufrag[30] === 'a' ? 'b' : 'a'}${ufrag.slice(31)}`
}
