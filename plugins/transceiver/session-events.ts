/** Events between a session and its client, and what a bridge's failure becomes. Pure. */

import { EdgeError, type JsonObject, type JsonValue } from '../../core/index.ts'

/** How deep an event's objects and arrays may nest: JSON.parse has no bound of its own, and JSON.stringify overflows. */
export const MAX_DEPTH = 64

/** The JSON object in a data channel's text, or undefined when it is none, or nests deeper than MAX_DEPTH. */
export function parseEvent(text: string): JsonObject | undefined {
  if (depthOf(text) > MAX_DEPTH) return undefined
  try {
    const value: JsonValue = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * The `error` event that tells a client of a fault, in OpenAI Realtime's shape. What was not the client's own doing is
 * told by its code alone: messages from behind the edge name hosts and ports, and are for the log.
 */
export function toErrorEvent(fault: EdgeError): JsonObject {
  const { source, code, param } = fault
  if (source === 'client') {
    return { type: 'error', error: { type: 'invalid_request_error', code, message: fault.message, param } }
  }
  const message =
    source === 'backend' ? 'The conversation with the backend failed.' : 'Something went wrong in the edge.'
  return { type: 'error', error: { type: 'server_error', code, message, param: null } }
}

/** The event that says why a call ends. */
export function endedEvent(reason: string): JsonObject {
  return { type: 'session.ended', reason }
}

/** The event that tells a bridge of a key pressed: one of 0–9, *, #, A–D, held for so long. */
export function telephoneEvent(digit: string, durationMs: number): JsonObject {
  return { type: 'telephone_event', digit, duration_ms: durationMs }
}

/** The `error` event that tells a client that events were lost, and why. */
export function droppedEvents(message: string): JsonObject {
  return { type: 'error', error: { type: 'server_error', code: 'events_dropped', message, param: null } }
}

/** An EdgeError for whatever a bridge rejected with. */
export function toBridgeFault(cause: unknown): EdgeError {
  if (cause instanceof EdgeError) return cause
  return new EdgeError('bridge_failed', 'The conversation with the backend failed.', { cause })
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** How deep brackets and braces outside of strings nest. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === QUOTE) inString = !inString
    else if (inString) {
      if (c === BACKSLASH) i++
    } else if (c === 0x7b || c === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (c === 0x7d || c === 0x5d) depth--
  }
  return deepest
}
