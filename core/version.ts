/** Earshot's own version. */

import { readFileSync } from 'node:fs'
import { isObject } from './config/pointer.ts'

/** The version in package.json, which lies one folder up from source and two from what is built. */
export const VERSION: string = readVersion(['../package.json', '../../package.json'])

function readVersion(places: readonly string[]): string {
  for (const place of places) {
    try {
      const text = readFileSync(new URL(place, import.meta.url), 'utf8')
      const parsed: unknown = JSON.parse(text)
      if (isObject(parsed) && parsed.name === 'earshot') return String(parsed.version)
    } catch {
      // Not here: the next place.
    }
  }
  return 'unknown'
}
