/** Events between a session and its client, and what a bridge's failure becomes. Pure. */

import { EdgeError, type JsonObject, type JsonValue } from '../../core/index.ts'

/** The JSON object in a data channel's text, or undefined when it is none. */
export function parseEvent(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The `error` event that tells a client of a fault, in OpenAI Realtime's shape. */
export function toErrorEvent(fault: EdgeError): JsonObject {
  const type = fault.source === 'client' ? 'invalid_request_error' : 'server_error'
  return { type: 'error', error: { type, code: fault.code, message: fault.message, param: fault.param } }
}

/** An EdgeError for whatever a bridge rejected with. */
export function toBridgeFault(cause: unknown): EdgeError {
  if (cause instanceof EdgeError) return cause
  return new EdgeError('bridge_failed', 'The conversation with the backend failed.', { cause })
}
