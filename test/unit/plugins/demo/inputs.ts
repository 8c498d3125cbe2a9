/** What happens to a conversation, in short. */

import { type Input, NOTHING, type State, step } from '../../../../plugins/demo/public/turns.js'

/** The state after all of it. */
export const run = (inputs: readonly Input[], from = NOTHING): State => inputs.reduce(step, from)

/** The edge sent an event. */
export const got = (at: number, type: string, more: object = {}, youLoudAt?: number): Input => ({
  type: 'received',
  at,
  youLoudAt,
  event: { type, ...more },
})

/** The page heard that somebody began or ended. */
export const level = (
  type: 'begins' | 'ends',
  who: 'you' | 'edge',
  at: number,
  youLoudAt?: number,
): Input => ({
  type,
  who,
  at,
  youLoudAt,
})
