/**
 * Fills placeholders in a parsed config: `${NAME}`, `${NAME:-default}`, `${file:path}`, and `$$` for a plain `$`.
 * In string values only, never in keys, and never twice: what is filled in is not read again.
 */

import { isObject, join } from './pointer.ts'
import type { ConfigProblem } from './problem.ts'

/** Where placeholders are filled from. `readFile` throws when it cannot. */
export interface Sources {
  readonly env: Readonly<Record<string, string | undefined>>
  readFile(path: string): string
}

/** A config with its placeholders filled. */
export interface Filled {
  readonly value: unknown
  /** Pointer → the text with its placeholders, of every string that had one. */
  readonly placeholders: ReadonlyMap<string, string>
  /** Pointer → what was filled in there, piece by piece. */
  readonly pieces: ReadonlyMap<string, readonly string[]>
  /** What came out of files: always secret. */
  readonly fromFiles: readonly string[]
  /** Pointers of strings that could not be filled; `value` holds '' there. */
  readonly missing: ReadonlySet<string>
  readonly problems: readonly ConfigProblem[]
}

const PLACEHOLDER = /\$\$|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$\{file:([^}]+)\}|\$\{[^}]*\}?/g

/** Fills every string of `value`; the original stays as it is. */
export function interpolate(value: unknown, sources: Sources): Filled {
  const filler = new Filler(sources)
  return { ...filler, value: filler.walk(value, '') }
}

class Filler {
  readonly placeholders = new Map<string, string>()
  readonly pieces = new Map<string, string[]>()
  readonly fromFiles: string[] = []
  readonly missing = new Set<string>()
  readonly problems: ConfigProblem[] = []
  readonly #sources: Sources

  constructor(sources: Sources) {
    this.#sources = sources
  }

  walk(value: unknown, pointer: string): unknown {
    if (typeof value === 'string') return this.#fill(value, pointer)
    if (Array.isArray(value)) return value.map((item, i) => this.walk(item, join(pointer, i)))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.walk(item, join(pointer, key))]),
    )
  }

  #fill(text: string, pointer: string): string {
    const filled = text.replace(PLACEHOLDER, (all, name?: string, fallback?: string, path?: string) => {
      if (all === '$$') return '$'
      this.placeholders.set(pointer, text)
      const piece =
        path !== undefined ? this.#file(path, pointer) : this.#variable(all, name, fallback, pointer)
      if (piece !== '') this.pieces.set(pointer, [...(this.pieces.get(pointer) ?? []), piece])
      return piece
    })
    return this.missing.has(pointer) ? '' : filled
  }

  #file(path: string, pointer: string): string {
    try {
      const content = this.#sources.readFile(path).trimEnd()
      this.fromFiles.push(content)
      return content
    } catch (cause) {
      const reason = isObject(cause) && typeof cause.code === 'string' ? ` (${cause.code})` : ''
      return this.#fail(
        pointer,
        `file ${path} cannot be read${reason}`,
        'paths are relative to the config file',
      )
    }
  }

  #variable(all: string, name: string | undefined, fallback: string | undefined, pointer: string): string {
    if (name === undefined) {
      const hint = `write \${NAME}, \${NAME:-default} or \${file:path}; a plain "$" is written "$$"`
      return this.#fail(pointer, `${all} is no placeholder`, hint)
    }
    const { env } = this.#sources
    const found = Object.hasOwn(env, name) ? env[name] : undefined
    if (found !== undefined && found !== '') return found
    if (fallback !== undefined) return fallback
    const state = found === undefined ? 'is not set' : 'is empty'
    return this.#fail(
      pointer,
      `environment variable ${name} ${state}`,
      `set it, or write \${${name}:-default}`,
    )
  }

  #fail(pointer: string, message: string, hint?: string): '' {
    this.missing.add(pointer)
    this.problems.push({ pointer, message, ...(hint === undefined ? {} : { hint }) })
    return ''
  }
}
