/** The events that the edge makes itself, in OpenAI Realtime's shape. Pure. */

import type { JsonObject } from '../../../../core/index.ts'
import type { Cut } from './responses.ts'

/** What became of the audio of a response: only who plays it knows. */
export function bufferEvent(
  what: 'started' | 'stopped' | 'cleared',
  responseId: string,
  eventId: string,
): JsonObject {
  return { type: `output_audio_buffer.${what}`, event_id: eventId, response_id: responseId }
}

/** Asks the backend to forget what of an item was not heard. */
export function truncateEvent(cut: Cut, eventId: string): JsonObject {
  return {
    type: 'conversation.item.truncate',
    event_id: eventId,
    item_id: cut.itemId,
    content_index: cut.contentIndex,
    audio_end_ms: cut.audioEndMs,
  }
}

/** Asks the backend to stop a response. */
export function cancelEvent(responseId: string, eventId: string): JsonObject {
  return { type: 'response.cancel', event_id: eventId, response_id: responseId }
}

/** An item that the bridge knows. */
export function retrievedEvent(item: JsonObject, eventId: string): JsonObject {
  return { type: 'conversation.item.retrieved', event_id: eventId, item }
}

/** A key that the caller pressed, as OpenAI tells of it. */
export function keyEvent(event: JsonObject, eventId: string, unixSeconds: number): JsonObject {
  return {
    type: 'input_audio_buffer.dtmf_event_received',
    event_id: eventId,
    event: event.digit ?? null,
    received_at: unixSeconds,
  }
}

/** Tells a client that one of its events goes no further. */
export function refusal(
  event: JsonObject,
  code: string,
  param: string,
  message: string,
  eventId: string,
): JsonObject {
  const causedBy = typeof event.event_id === 'string' ? event.event_id : null
  const error = { type: 'invalid_request_error', code, message, param, event_id: causedBy }
  return { type: 'error', event_id: eventId, error }
}
