/** One content part of a response: the samples that came for it. Pure. */

import type { JsonObject } from '../../../../core/index.ts'
import { numberAt, stringAt } from './json.ts'

/** A content part with audio. */
export class AudioPart {
  readonly itemId: string
  readonly contentIndex: number
  /** No more will come. */
  done = false
  #bytes = 0
  #half: number | undefined

  constructor(itemId: string, contentIndex: number) {
    this.itemId = itemId
    this.contentIndex = contentIndex
  }

  /** Milliseconds that came, at a rate. */
  receivedMs(rate: number): number {
    return (this.#bytes * 500) / rate
  }

  /** Decodes a delta; a half sample at its end waits for the next. Undefined when no whole sample is there. */
  decode(delta: string): Uint8Array | undefined {
    const came = Buffer.from(delta, 'base64')
    const bytes = this.#half === undefined ? came : Buffer.concat([Buffer.of(this.#half), came])
    const whole = bytes.length & ~1
    this.#half = whole < bytes.length ? bytes[whole] : undefined
    this.#bytes += whole
    return whole === 0 ? undefined : bytes.subarray(0, whole)
  }
}

/** Which part an event is about: the tag under which its audio is played. */
export function tagOf(event: JsonObject): string {
  return `${stringAt(event, 'response_id')}/${stringAt(event, 'item_id')}/${numberAt(event, 'content_index')}`
}
