/**
 * The conversation's items as the backend told of them, without their audio: to answer `conversation.item.retrieve`
 * where the backend does not. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../../../../core/index.ts'
import { numberAt, objectAt, stringAt } from './json.ts'

/** So many items are kept, the newest. */
export const MAX_ITEMS = 512

/** The items of one conversation. */
export class Items {
  readonly #items = new Map<string, JsonObject>()

  /** Takes note of what an event says of an item. */
  note(event: JsonObject): void {
    const id = stringAt(event, 'item_id')
    switch (event.type) {
      case 'conversation.item.added':
      case 'conversation.item.done':
      case 'response.output_item.added':
      case 'response.output_item.done':
        this.#keep(objectAt(event, 'item'))
        break
      case 'conversation.item.deleted':
        this.#items.delete(id)
        break
      case 'conversation.item.input_audio_transcription.completed':
        this.#transcribe(id, numberAt(event, 'content_index'), stringAt(event, 'transcript'))
        break
      case 'conversation.item.truncated':
        // What it has not heard, a client must not read either, and how much text that is only the backend knows.
        this.#transcribe(id, numberAt(event, 'content_index'), '')
    }
  }

  /** The item, or undefined when there is none that is known. */
  get(id: string): JsonObject | undefined {
    return this.#items.get(id)
  }

  #keep(item: JsonObject): void {
    const id = stringAt(item, 'id')
    if (id === '') return
    this.#items.delete(id)
    this.#items.set(id, withoutAudio(item))
    if (this.#items.size <= MAX_ITEMS) return
    for (const oldest of this.#items.keys()) {
      this.#items.delete(oldest)
      return
    }
  }

  #transcribe(id: string, index: number, transcript: string): void {
    const item = this.#items.get(id)
    if (!item || !Array.isArray(item.content)) return
    const content = item.content.map((part, n) =>
      n === index && isJsonObject(part) ? { ...part, transcript } : part,
    )
    this.#items.set(id, { ...item, content })
  }
}

/** An item whose content carries no audio: that is on the track, and too long for a data channel. */
export function withoutAudio(item: JsonObject): JsonObject {
  if (!Array.isArray(item.content)) return item
  return { ...item, content: item.content.map(partWithoutAudio) }
}

function partWithoutAudio(part: JsonValue): JsonValue {
  return isJsonObject(part) && typeof part.audio === 'string' ? { ...part, audio: null } : part
}
