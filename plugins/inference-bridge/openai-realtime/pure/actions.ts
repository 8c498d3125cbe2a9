/** What the translation has others do, in order. Pure. */

import type { JsonObject } from '../../../../core/index.ts'

/** Who interrupts: the caller's speech, as the backend heard it, or an event of the client. */
export type Interrupter = 'speech' | 'client'

/** One thing to be done. */
export type Action =
  /** Send an event to the client. */
  | { readonly do: 'tell'; readonly event: JsonObject }
  /** Send an event to the backend. */
  | { readonly do: 'ask'; readonly event: JsonObject }
  /** Send an event to the backend behind all that the caller has said by now. */
  | { readonly do: 'ask-when-heard'; readonly event: JsonObject }
  /** Play samples. */
  | { readonly do: 'play'; readonly data: Uint8Array; readonly tag: string }
  /** Drop what is queued, and say how much was played: `Translation.flushed`. */
  | { readonly do: 'flush'; readonly by: Interrupter }
