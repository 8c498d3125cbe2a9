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
export type AudioFormat = 'opus' | { readonly pcm16: 8000 | 16000 | 24000 | 48000 }

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
