/** What ioredis rejects with, sorted into what the store counts and tells. */

import { ReplyError } from 'ioredis'

/** Why a command failed: no answer in time, an error from the server, or no connection. */
export type FailedOutcome = 'timed_out' | 'refused' | 'lost'

/** One failure. */
export interface Fault {
  readonly outcome: FailedOutcome
  /** `unreachable`, or the server's own word for it: OOM, READONLY, WRONGPASS. */
  readonly kind: string
  /** For people; never holds a password. */
  readonly reason: string
}

/** A server may say anything, at any length; the log takes this many characters of it. */
const MAX_REASON = 200

/** Sorts an error. Only its words are kept: ioredis hangs commands, and so passwords, onto its errors. */
export function toFault(error: unknown): Fault {
  const cause = rootOf(error)
  const reason = wordsOf(cause).slice(0, MAX_REASON)
  if (cause instanceof ReplyError) {
    return { outcome: 'refused', kind: /^[A-Z]+(?= )/.exec(reason)?.[0] ?? 'refused', reason }
  }
  const outcome = reason === 'Command timed out' ? 'timed_out' : 'lost'
  return { outcome, kind: 'unreachable', reason }
}

/** A cluster's "Failed to refresh slots cache" hides what its last node said. */
function rootOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error
  if ('lastNodeError' in error && error.lastNodeError) return rootOf(error.lastNodeError)
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0])
  return error
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
