/** A backend's message as an event. Pure. */

import { EdgeError, type JsonObject, parseJsonObject } from '../../../../core/index.ts'

/** The event that a text is. Throws EdgeError `bridge_failed` for any other text. */
export function readEvent(text: string): JsonObject {
  const event = parseJsonObject(text)
  if (event && typeof event.type === 'string') return event
  const message = 'The backend sent a message that is no event: no JSON object with a type.'
  throw new EdgeError('bridge_failed', message)
}
