/**
 * The messages between this bridge and a backend (README.md has them in full). JSON text is an event, but for the
 * five types that the protocol keeps for itself; binary is audio. Pure.
 */

import {
  type BridgeCall,
  EdgeError,
  type JsonObject,
  type Played,
  parseJsonObject,
} from '../../../core/index.ts'

/** Types that only the bridge and the backend use; a client's event of such a type is refused. */
const RESERVED: ReadonlySet<string> = new Set([
  'call.start',
  'call.end',
  'audio.tag',
  'audio.clear',
  'audio.cleared',
])

/** What a text from the backend asks for. */
export type BackendMessage =
  | { readonly kind: 'event'; readonly event: JsonObject }
  | { readonly kind: 'tag'; readonly tag: string | undefined }
  | { readonly kind: 'clear' }
  | { readonly kind: 'end'; readonly reason: string }

/** Reads a text from the backend. Throws EdgeError `bridge_failed` for what the protocol does not allow. */
export function readText(text: string): BackendMessage {
  const event = parseJsonObject(text)
  if (!event) throw new EdgeError('bridge_failed', 'The backend sent a text that is no JSON object.')
  switch (event.type) {
    case 'audio.tag':
      if (typeof event.tag === 'string') return { kind: 'tag', tag: event.tag }
      if (event.tag === null) return { kind: 'tag', tag: undefined }
      throw new EdgeError(
        'bridge_failed',
        'The backend sent an audio.tag whose tag is neither a string nor null.',
      )
    case 'audio.clear':
      return { kind: 'clear' }
    case 'call.end':
      return { kind: 'end', reason: typeof event.reason === 'string' ? event.reason : 'backend' }
    case 'call.start':
    case 'audio.cleared':
      throw new EdgeError('bridge_failed', `The backend sent ${event.type}, which only the edge may send.`)
    default:
      return { kind: 'event', event }
  }
}

/** The first text on a connection. */
export function callStart(call: BridgeCall, rate: number): string {
  return JSON.stringify({
    type: 'call.start',
    call: call.id,
    ...(call.model === undefined ? {} : { model: call.model }),
    ...(call.session === undefined ? {} : { session: call.session }),
    audio: { encoding: 'pcm16', rate },
  })
}

/** The answer to audio.clear. */
export function audioCleared(played: readonly Played[]): string {
  return JSON.stringify({
    type: 'audio.cleared',
    played: played.map(({ tag, playedMs }) => ({ tag, played_ms: playedMs })),
  })
}

/** True for a client's event that a backend would take for the bridge's word. */
export function isReserved(event: JsonObject): boolean {
  return typeof event.type === 'string' && RESERVED.has(event.type)
}

/** What a client hears of such an event. */
export function refusal(event: JsonObject): JsonObject {
  return {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      code: 'reserved_event',
      message: `Events of type ${String(event.type)} are not passed on: the edge uses that type itself.`,
      param: 'type',
    },
  }
}
