/**
 * How the log tells of a call's end: one line, by which the call's trace is found. A stack is on it only where something
 * of ours or of the backend's failed: what a client does or fails to do has none.
 */

import { type Context, type EdgeError, traceFields } from '../../core/index.ts'

/** A call that has ended. */
export interface EndedCall {
  /** The session's bytes in hex. */
  readonly id: string
  readonly caller: string
  readonly reason: string
  readonly durationMs: number
  /** Set when it was not by anybody's wish. */
  readonly fault: EdgeError | undefined
}

/** What a log line about the call of this session has, so that its trace is found. */
export function traceOf({ id }: { readonly id: string }): { trace_id: string; span_id: string } {
  return traceFields(Buffer.from(id, 'hex'))
}

/** Logs the end of a call. */
export function tellEnd(log: Context['log'], { fault, ...call }: EndedCall): void {
  const fields = { ...call, ...traceOf(call) }
  // A closed tab, a dead battery, a lost network: consent expires (RFC 7675 §5.1), as calls every day do.
  if (!fault || fault.code === 'peer_gone') log.info(fields, 'call ended')
  else if (fault.source === 'peer')
    log.warn({ ...fields, code: fault.code, error: fault.message }, 'call failed')
  else log.warn({ ...fields, code: fault.code, err: fault }, 'call failed')
}
