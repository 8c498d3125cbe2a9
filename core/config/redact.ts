/** Keeps secrets out of everything that is printed. Pure. */

import type { Filled } from './interpolate.ts'
import { type Schema, visit } from './schema.ts'

/** What is printed in a secret's place. */
export const REDACTED = '[redacted]'

/** Shorter secrets are left alone: replacing every "a" would garble the text and hide nothing. */
const SHORTEST = 4

/** The secrets of one section: strings whose schema says `writeOnly`, whole and by what was filled into them. */
export function secretsOf(schema: Schema, value: unknown, base: string, filled: Filled): string[] {
  const found: string[] = []
  visit(schema, value, base, ({ writeOnly }, inner, pointer) => {
    if (writeOnly && typeof inner === 'string') found.push(inner, ...(filled.pieces.get(pointer) ?? []))
  })
  return found
}

/** A function that replaces every secret in a text, as it is and as it looks inside JSON and URLs. */
export function redactor(secrets: Iterable<string>): (text: string) => string {
  const forms = [...secrets]
    .filter((secret) => secret.length >= SHORTEST)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length)
  if (longestFirst.length === 0) return (text) => text
  const pattern = new RegExp(longestFirst.map((form) => RegExp.escape(form)).join('|'), 'g')
  return (text) => text.replace(pattern, REDACTED)
}
