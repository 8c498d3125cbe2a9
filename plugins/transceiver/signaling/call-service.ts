/** What signaling needs of the transceiver: to start a call from an offer, and to ask about or end one by its id. */

import { EdgeError, type JsonObject, type Principal } from '../../../core/index.ts'
import type { ReachedCall } from './reached-call.ts'

/** A client's wish to start a call. */
export interface CallRequest {
  /** The offer as it was sent, valid UTF-8 but otherwise unread. */
  readonly sdp: string
  readonly caller: Principal
  readonly model?: string
  readonly session?: JsonObject
  /** The data channel that the client has set up by itself, with this id and without a word (`negotiated: true`). */
  readonly channelId?: number
  /** The id of a call whose place this one takes: if it is the caller's own, and here, it ends as this one begins. */
  readonly replaces?: string
  /** What the client says on its data channel beside events; see rtvi.ts. */
  readonly dialect?: 'rtvi'
  /** The W3C trace context of the request, well formed. */
  readonly traceparent?: string
}

/** A call that was started. */
export interface StartedCall {
  /** See call-id.ts. */
  readonly id: string
  /** The answer, complete, CRLF at the end. */
  readonly sdp: string
}

/** What a call's own caller is told of it: `GET …/calls/{id}`. */
export interface CallDescription {
  readonly id: string
  readonly object: 'realtime.call'
  readonly state: 'connecting' | 'connected'
  /** As the offer's request named it. */
  readonly model?: string
  /** When the offer was answered, in seconds since 1970. */
  readonly created_at: number
  /** Since then. */
  readonly duration_ms: number
  readonly media: {
    readonly packets_received: number
    readonly packets_sent: number
    /** Of what the caller sent. */
    readonly packets_lost: number
    readonly jitter_ms: number
    /** Null until the caller has reported once. */
    readonly round_trip_ms: number | null
  }
}

/** Starts and ends calls. */
export interface CallService {
  /** Rejects with an EdgeError (`invalid_sdp`, `no_audio`, `too_many_calls`, …); nothing is left behind then. */
  create(request: CallRequest): Promise<StartedCall>
  /** Ends a call. Throws EdgeError `call_not_found` for any id that is not a live call of this caller. */
  hangUp(id: string, caller: Principal): void
  /** What is known of a call. Throws likewise. */
  describe(id: string, caller: Principal): CallDescription
  /** The call itself. Throws likewise. */
  reach(id: string, caller: Principal): ReachedCall
}

/**
 * The one error for every id that opens nothing: unknown, malformed, another caller's or guessed. It is always the
 * same, so that it tells nobody which of these it was.
 */
export function callNotFound(): EdgeError {
  return new EdgeError('call_not_found', 'There is no such call. It may have ended already.', {
    param: 'call_id',
  })
}
