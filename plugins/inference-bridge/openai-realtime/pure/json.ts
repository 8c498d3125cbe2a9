/** Reads JSON of which nothing is known. Pure and total. */

import { isJsonObject, type JsonObject } from '../../../../core/index.ts'

/** The object under a key; an empty one where there is none. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key]
  return isJsonObject(value) ? value : {}
}

/** The string under a key; empty where there is none. */
export function stringAt(object: JsonObject, key: string): string {
  const value = object[key]
  return typeof value === 'string' ? value : ''
}

/** The finite number under a key; 0 where there is none. */
export function numberAt(object: JsonObject, key: string): number {
  const value = object[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

/** `over` on `base`: objects are joined key by key, everything else is replaced. Neither is changed. */
export function merge(base: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const below = base[key]
    // Not an assignment: a key "__proto__" is a key like any other.
    Object.defineProperty(merged, key, {
      value: isJsonObject(below) && isJsonObject(value) ? merge(below, value) : value,
      configurable: true,
      enumerable: true,
      writable: true,
    })
  }
  return merged
}

/** The object without some of its keys. */
export function without(object: JsonObject, ...keys: string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
}
