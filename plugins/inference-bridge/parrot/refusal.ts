/** What a client hears of an event that the parrot cannot follow, in OpenAI Realtime's shape. Pure. */

import type { JsonObject } from '../../../core/index.ts'

const WHY = {
  unknown_event: 'the parrot knows no such event',
  missing_required_parameter: 'something is missing in it',
  session_too_large: 'the session would be longer than the parrot can keep in mind',
  item_not_found: 'there is no such item, or it was long ago',
}

/** The `error` event: why, by which part of the client's event, and which event that was. */
export function refusal(event: JsonObject, code: keyof typeof WHY, param: string): JsonObject {
  const message = `"${String(event.type)}": ${WHY[code]}.`
  const { event_id = null } = event
  return { type: 'error', error: { type: 'invalid_request_error', code, message, param, event_id } }
}
