/** Routing keys as the operator writes them, in the config or in a file. */

import type { Problem } from '../../../core/index.ts'

/** A key as it was checked. */
export interface RoutingKey {
  /** 0 to 255. */
  readonly id: number
  /** 32 hex digits. */
  readonly key: string
}

/** Ids that are there twice, by their place in the list. */
export function duplicateIds(keys: readonly RoutingKey[]): Problem[] {
  const problems: Problem[] = []
  for (const [i, { id }] of keys.entries()) {
    const first = keys.findIndex((key) => key.id === id)
    if (first === i) continue
    problems.push({
      pointer: `/${i}/id`,
      message: `key id ${id} is used twice, here and by key ${first}`,
      hint: 'give every key an id of its own: a text carries only the id',
    })
  }
  return problems
}

/** The keys in a file's text. Throws an Error that says what is wrong and never shows a key. */
export function parseKeys(text: string): RoutingKey[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    // Not the parser's own words: they quote the text, and the text holds keys.
    throw new Error('it is not JSON')
  }
  if (!Array.isArray(list) || list.length === 0) throw new Error('it is not a list of at least one key')
  const keys = list.map((entry: unknown, i) => parseKey(entry, i))
  const duplicate = duplicateIds(keys)[0]
  if (duplicate) throw new Error(duplicate.message)
  return keys
}

function parseKey(entry: unknown, at: number): RoutingKey {
  if (typeof entry !== 'object' || entry === null) throw new Error(`key ${at} is not an object`)
  const id = 'id' in entry ? entry.id : undefined
  const key = 'key' in entry ? entry.key : undefined
  if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > 255) {
    throw new Error(`key ${at} has no "id" from 0 to 255`)
  }
  if (typeof key !== 'string' || !/^[0-9a-fA-F]{32}$/.test(key)) {
    throw new Error(`key ${at} has no "key" of 32 hex digits`)
  }
  const unknown = Object.keys(entry).find((name) => name !== 'id' && name !== 'key')
  if (unknown !== undefined) throw new Error(`key ${at} has something unknown in it beside "id" and "key"`)
  return { id, key }
}
