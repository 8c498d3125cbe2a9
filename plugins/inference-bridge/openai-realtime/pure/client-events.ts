/** A client's events on their way to the backend. Pure. */

import { isJsonObject, type JsonObject } from '../../../../core/index.ts'
import type { Capabilities } from './capabilities.ts'
import type { Items } from './items.ts'
import { numberAt, objectAt, stringAt } from './json.ts'
import { keyEvent, refusal, retrievedEvent } from './notices.ts'
import { toBackendResponse, toBackendSession } from './session-config.ts'
import type { Truncations } from './truncations.ts'
import type { World } from './world.ts'

/** What is to be done with a client's event. */
export type Passage =
  /** The backend gets this. */
  | { readonly to: 'backend'; readonly event: JsonObject; readonly whenHeard?: boolean }
  /** The client gets this; the backend nothing. */
  | { readonly to: 'client'; readonly event: JsonObject }
  /** The player is to drop what is queued. */
  | { readonly to: 'player' }
  /** The backend makes no more of the responses under way, as far as anybody hears. */
  | { readonly to: 'responses' }
  | { readonly to: 'nobody' }

/** What a client's events are read with. */
export interface ClientEventOptions {
  readonly can: Capabilities
  readonly rate: number
  readonly items: Items
  readonly truncations: Truncations
  readonly world: World
}

const APPEND = 'Audio is sent on the WebRTC track, not as events.'
const TRUNCATE = 'This backend does not truncate items.'
const UNKNOWN = 'There is no such item.'

/** Says where a client's event goes, and as what. */
export function passClientEvent(event: JsonObject, options: ClientEventOptions): Passage {
  const { can, rate, world } = options
  switch (event.type) {
    case 'session.update': {
      const session = toBackendSession(objectAt(event, 'session'), can, rate)
      return { to: 'backend', event: { ...event, session } }
    }
    case 'response.create':
      if (!isJsonObject(event.response)) return { to: 'backend', event }
      return { to: 'backend', event: { ...event, response: toBackendResponse(event.response) } }
    case 'input_audio_buffer.append':
      return refused(event, 'invalid_event_for_transport', 'type', APPEND, world)
    case 'input_audio_buffer.commit':
    case 'input_audio_buffer.clear':
      return { to: 'backend', event, whenHeard: true }
    case 'output_audio_buffer.clear':
      return { to: 'player' }
    case 'response.cancel':
      return can.cancel ? { to: 'backend', event } : { to: 'responses' }
    case 'conversation.item.truncate':
      return truncate(event, options)
    case 'conversation.item.retrieve':
      return retrieve(event, options)
    case 'telephone_event':
      return { to: 'client', event: keyEvent(event, world.eventId(), world.unixSeconds()) }
    default:
      return { to: 'backend', event }
  }
}

function truncate(event: JsonObject, { can, truncations, world }: ClientEventOptions): Passage {
  if (!can.truncate) return refused(event, 'unsupported_event', 'type', TRUNCATE, world)
  const wished = numberAt(event, 'audio_end_ms')
  const at = truncations.wish(stringAt(event, 'item_id'), numberAt(event, 'content_index'), wished)
  return at === undefined ? { to: 'nobody' } : { to: 'backend', event: { ...event, audio_end_ms: at } }
}

function retrieve(event: JsonObject, { can, items, world }: ClientEventOptions): Passage {
  if (can.retrieve) return { to: 'backend', event }
  const item = items.get(stringAt(event, 'item_id'))
  if (!item) return refused(event, 'item_retrieve_invalid_item_id', 'item_id', UNKNOWN, world)
  return { to: 'client', event: retrievedEvent(item, world.eventId()) }
}

function refused(event: JsonObject, code: string, param: string, message: string, world: World): Passage {
  return { to: 'client', event: refusal(event, code, param, message, world.eventId()) }
}
