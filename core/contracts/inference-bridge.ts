/**
 * Turns one call's audio and events into one backend conversation. A bridge never sees WebRTC: it gets frames in
 * the format it asks for and gives frames back in the same one.
 */

import type { Principal } from '../plugin.ts'
import { service } from '../service.ts'

/** A JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** A JSON object: an event, a session's config. */
export type JsonObject = { [key: string]: JsonValue }

/** What a bridge's frames hold: Opus packets untouched, or mono 16-bit little-endian samples at a rate. */
export type AudioFormat = 'opus' | { readonly pcm16: 8000 | 12000 | 16000 | 24000 | 48000 }

/** A piece of audio in the bridge's format. */
export interface AudioFrame {
  /** One Opus packet, or PCM16 little-endian mono. Whoever receives a frame owns its bytes. */
  readonly data: Uint8Array
  /** How long it sounds. */
  readonly durationMs: number
  /** From the caller only: where it lies in the caller's own stream, from its RTP timestamps, starting at 0. */
  readonly timestampMs?: number
}

/** What a flush found: how much of each tag's audio was really sent. */
export interface Played {
  readonly tag: string
  readonly playedMs: number
}

/**
 * What the playout did: the first frame of a tag (since the last flush) has left, or all that was queued has, to its
 * end. What a flush drops has not drained.
 */
export type PlayoutEvent =
  | { readonly type: 'started'; readonly tag: string | undefined }
  | { readonly type: 'drained' }

/** One call, as its bridge sees it. */
export interface BridgeCall {
  /** For logs only; it opens nothing. */
  readonly id: string
  /** The session's 8 bytes, for spans in the call's trace. */
  readonly traceSession: Uint8Array
  readonly model?: string
  readonly session?: JsonObject
  readonly caller: Principal
  /** Aborts when the call has ended, for whatever reason. */
  readonly signal: AbortSignal
  /** From the caller, as it is spoken. Ends with the call. One reader. */
  readonly audio: AsyncIterable<AudioFrame>
  /** From the data channel, in order. Ends with the call. One reader. */
  readonly events: AsyncIterable<JsonObject>
  /** To the data channel; kept until the channel is open. */
  send(event: JsonObject): void
  /** Queues a frame for the caller; resolves when there is room for more. Paced in real time; loses nothing. */
  play(frame: AudioFrame, tag?: string): Promise<void>
  /** Audio queued and not yet sent. */
  readonly queuedMs: number
  /** Barge-in: drops what is queued; per tag since the last flush, the milliseconds really sent. */
  flush(): Played[]
  /**
   * What the playout did, in order, for bridges whose clients are told. Ends with the call. One reader; unread, the
   * latest few are kept.
   */
  readonly playout: AsyncIterable<PlayoutEvent>
  /**
   * Resolves when all that the caller had said by now has been taken from `audio` and its reader has come back for
   * more: the jitter buffer hands out what it holds. At once when nobody reads `audio`, and when the call has ended. Not
   * to be awaited by that reader itself.
   */
  heard(): Promise<void>
  /** Ends the call; the client hears the reason as an event first. */
  end(reason: string): void
}

/** A bridge to one kind of backend. */
export interface InferenceBridge {
  readonly audio: AudioFormat
  /**
   * Serves one call: resolves when the conversation is over, rejects when it failed (which ends the call with
   * `bridge_failed`). It should watch `call.signal`.
   */
  open(call: BridgeCall): Promise<void>
}

/** The service key of the inference bridge. */
export const InferenceBridge = service<InferenceBridge>('inference-bridge')
