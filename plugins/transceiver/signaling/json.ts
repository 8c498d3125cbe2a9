/** JSON that clients send: read within bounds, and laid over each other. Pure. */

import { EdgeError, type JsonObject, type JsonValue } from '../../../core/index.ts'

/** How deep what a client sends may nest. */
export const MAX_DEPTH = 32

/** An object that `JSON.parse` could have made, whatever it holds. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object in a text. Throws EdgeError `bad_request`, which names `param`, for what is none or nests too deep. */
export function readObject(text: string, param: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new EdgeError('bad_request', `The ${param} is not JSON.`, { cause, param })
  }
  return checkObject(value, param)
}

/** The same for a value that has been read already. */
export function checkObject(value: unknown, param: string): JsonObject {
  if (!isJsonObject(value)) throw new EdgeError('bad_request', `The ${param} is no JSON object.`, { param })
  if (isDeeper(value, MAX_DEPTH)) {
    const message = `The ${param} nests deeper than ${MAX_DEPTH} levels.`
    throw new EdgeError('bad_request', message, { param })
  }
  return value
}

/** `over` laid over `base`: objects key by key, all else replaced. Neither is changed. */
export function mergeObjects(base: JsonObject, over: JsonObject): JsonObject {
  const merged = new Map<string, JsonValue>(Object.entries(base))
  for (const [key, value] of Object.entries(over)) {
    const under = merged.get(key)
    merged.set(key, isJsonObject(under) && isJsonObject(value) ? mergeObjects(under, value) : value)
  }
  return Object.fromEntries(merged)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}
