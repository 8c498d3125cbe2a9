/**
 * What a client types, and the answer to it: the same words, in writing, since a parrot says only what it has heard. Items
 * and events in, events out. Pure.
 */

import { isJsonObject, type JsonObject } from '../../../core/index.ts'
import { answerItem, type Items } from './items.ts'
import { refusal } from './refusal.ts'

/** One client's typing. */
export class Typing {
  readonly #items: Items
  #words = ''

  constructor(items: Items) {
    this.#items = items
  }

  /** Whether something was typed since the last answer. */
  get isUnanswered(): boolean {
    return this.#words !== ''
  }

  /** Takes an item of the client's into the conversation. Returns what the client is told. */
  take(event: JsonObject): JsonObject[] {
    const { item } = event
    if (!isJsonObject(item)) return [refusal(event, 'missing_required_parameter', 'item')]
    const id = typeof item.id === 'string' && item.id !== '' ? item.id : this.#items.newId()
    const taken = { ...item, id, object: 'realtime.item', status: 'completed' }
    const words = wordsOf(item)
    if (words !== '') this.#words = words
    const place = { previous_item_id: this.#items.add(taken), item: taken }
    return [
      { type: 'conversation.item.added', ...place },
      { type: 'conversation.item.done', ...place },
    ]
  }

  /** A response, event by event: the words that were typed last; where they are answered already, none. */
  *answer(response: string): Generator<JsonObject> {
    const text = this.#words
    this.#words = ''
    const whole = { id: response, object: 'realtime.response', output_modalities: ['text'] }
    yield { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } }
    const output = text === '' ? [] : [yield* this.#write(text, response)]
    yield { type: 'response.done', response: { ...whole, status: 'completed', output } }
  }

  *#write(text: string, response_id: string): Generator<JsonObject, JsonObject> {
    const id = this.#items.newId()
    const empty = answerItem(id, 'in_progress', [])
    const item = answerItem(id, 'completed', [{ type: 'output_text', text }])
    const previous_item_id = this.#items.add(item)
    const whole = { response_id, output_index: 0 }
    const part = { ...whole, item_id: id, content_index: 0 }
    yield { type: 'response.output_item.added', ...whole, item: empty }
    yield { type: 'conversation.item.added', previous_item_id, item: empty }
    yield { type: 'response.content_part.added', ...part, part: { type: 'text', text: '' } }
    yield { type: 'response.output_text.delta', ...part, delta: text }
    yield { type: 'response.output_text.done', ...part, text }
    yield { type: 'response.content_part.done', ...part, part: { type: 'text', text } }
    yield { type: 'conversation.item.done', previous_item_id, item }
    yield { type: 'response.output_item.done', ...whole, item }
    return item
  }
}

/** What a user's message says in writing; empty for any other item. */
function wordsOf({ type, role, content }: JsonObject): string {
  if (type !== 'message' || role !== 'user' || !Array.isArray(content)) return ''
  const texts = content.map((part) =>
    isJsonObject(part) && part.type === 'input_text' ? part.text : undefined,
  )
  return texts.filter((text) => typeof text === 'string').join('\n')
}
