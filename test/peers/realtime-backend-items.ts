/** The items of a scripted backend's conversation, with what `retrieve`, `delete` and `truncate` do to them. */

import type { JsonObject } from '../../core/index.ts'

/** An item, and what is known of its audio. */
export interface BackendItem {
  readonly id: string
  item: JsonObject
  /** Of an assistant's audio: how much has been made, and how much its whole transcript takes. */
  audioMs: number
  wholeMs: number
  transcript: string
}

/** Why a request is refused, as the `error` of an `error` event. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly param?: string
}

/** The conversation, oldest first. */
export class BackendItems {
  readonly #items = new Map<string, BackendItem>()

  get last(): string | null {
    return [...this.#items.keys()].at(-1) ?? null
  }

  get all(): readonly BackendItem[] {
    return [...this.#items.values()]
  }

  get(id: unknown): BackendItem | undefined {
    return typeof id === 'string' ? this.#items.get(id) : undefined
  }

  add(item: JsonObject, id: string): BackendItem {
    const added = {
      id,
      item: { ...item, id, object: 'realtime.item' },
      audioMs: 0,
      wholeMs: 0,
      transcript: '',
    }
    this.#items.set(id, added)
    return added
  }

  delete(id: unknown): boolean {
    return typeof id === 'string' && this.#items.delete(id)
  }

  /**
   * Cuts an assistant's audio, and with it the words that were not heard in full: of a transcript of n words each takes
   * an n-th of the whole. Gives the reason when it cannot be done, as OpenAI does.
   */
  truncate(event: JsonObject): Refusal | undefined {
    const item = this.get(event.item_id)
    const end = event.audio_end_ms
    if (!item) return { code: 'item_truncate_invalid_item_id', message: 'No such item.', param: 'item_id' }
    if (item.item.role !== 'assistant')
      return { code: 'invalid_value', message: 'Only assistant items can be truncated.', param: 'item_id' }
    if (event.content_index !== 0)
      return { code: 'invalid_value', message: 'No such content part.', param: 'content_index' }
    if (typeof end !== 'number' || !Number.isInteger(end) || end <= 0)
      return { code: 'invalid_value', message: 'Nothing of it would be left.', param: 'audio_end_ms' }
    if (end > item.audioMs)
      return {
        code: 'invalid_value',
        message: `Audio content of ${item.audioMs}ms is already shorter than ${end}ms`,
        param: 'audio_end_ms',
      }
    const words = item.transcript.split(' ')
    item.audioMs = end
    item.transcript = words.slice(0, Math.floor((words.length * end) / item.wholeMs)).join(' ')
    item.item = { ...item.item, content: [{ type: 'output_audio', transcript: item.transcript }] }
    return undefined
  }
}
