/** What the page's pure modules promise; they are plain JavaScript, since a browser loads them as they are. */

declare module '*/demo/public/hearing.js' {
  export const SILENCE_DB: number
  export class Hearing {
    constructor(options: { noisy: boolean })
    loudAt: number | undefined
    speaks: boolean
    hear(at: number, decibels: number): { type: 'begins' | 'ends'; at: number } | undefined
  }
}

declare module '*/demo/public/turns.js' {
  export interface Turn {
    readonly id: number
    readonly who: 'you' | 'edge'
    readonly kind: 'speech' | 'text' | 'tool' | 'note'
    readonly startMs: number
    readonly endMs: number | undefined
    readonly text: string
    readonly cut?: { readonly playedMs?: number; readonly silentAfterMs?: number }
    readonly latency?: {
      readonly totalMs: number
      readonly noticeMs: number | undefined
      readonly answerMs: number | undefined
    }
    readonly behindMs?: number
  }
  export interface State {
    readonly turns: readonly Turn[]
    readonly told: boolean
  }
  export type Input =
    | {
        readonly type: 'received' | 'sent'
        readonly event: unknown
        readonly at: number
        readonly youLoudAt?: number | undefined
      }
    | {
        readonly type: 'begins' | 'ends'
        readonly who: 'you' | 'edge'
        readonly at: number
        readonly youLoudAt?: number | undefined
      }
    | { readonly type: 'over'; readonly at: number }
  export const NOTHING: State
  export function step(state: State, input: Input): State
  export function floorOf(state: State): 'you' | 'edge' | 'both' | 'thinking' | 'nobody'
  export function latencyOf(
    state: State,
  ): { count: number; totalMs: number; noticeMs?: number; answerMs?: number } | undefined
  export function median(values: readonly number[]): number | undefined
}

declare module '*/demo/public/words.js' {
  import type { Turn } from '*/demo/public/turns.js'
  export function length(ms: number): string
  export function clock(ms: number): string
  export function remarks(turn: Turn): { came: string | undefined; cut: string | undefined }
  export function sentence(turn: Turn): string
}

declare module '*/demo/public/audio-clock.js' {
  export class AudioClock {
    toPage(atMs: number, now: number): number
  }
}
