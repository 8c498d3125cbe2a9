/** Reads JSON that somebody else wrote. Pure and total. */

import { isObject } from './config/pointer.ts'
import type { JsonObject } from './contracts/inference-bridge.ts'

/** Whether a value out of JSON is an object, neither null nor a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value)
}

/** The JSON object that a text is; undefined for any other text. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
