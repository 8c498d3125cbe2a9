/** Checks the sections of the file that are not the plugins' own. Pure. */

import { checkRoot } from './check-root.ts'
import type { Filled } from './interpolate.ts'
import { isObject, join } from './pointer.ts'
import type { ConfigProblem } from './problem.ts'
import { secretsOf } from './redact.ts'
import { RootConfig } from './root-schema.ts'
import { asSchema } from './schema.ts'
import { type Checked, validate } from './validate.ts'

/** The root as read. `config` is there when every part has the right shape. */
export interface Root {
  readonly value: unknown
  readonly config: RootConfig | undefined
  readonly problems: readonly ConfigProblem[]
  readonly secrets: readonly string[]
}

/** Checks the root by its schema, and each section whose shape is right by what a schema cannot say. */
export function readRoot(filled: Filled): Root {
  const checked = validate(RootConfig, withoutEmptyKeys(filled), '', filled)
  const secrets = secretsOf(asSchema(RootConfig), checked.value, '', filled)
  const sound = soundSections(checked)
  const more = sound ? checkRoot(sound, filled.missing) : []
  const { value } = checked
  const config = isRoot(value, checked.broken) ? value : undefined
  return { value, config, problems: [...checked.problems, ...more], secrets }
}

/**
 * A key of which `${NAME:-}` left nothing is none: so a file may name a key that only some places have. Elsewhere than
 * on loopback one is demanded all the same.
 */
function withoutEmptyKeys({ value, placeholders, missing }: Filled): unknown {
  if (!isObject(value) || !isObject(value.http) || !isObject(value.http.keys)) return value
  const isThere = ([name, secret]: [string, unknown]): boolean => {
    const pointer = join('/http/keys', name)
    return secret !== '' || !placeholders.has(pointer) || missing.has(pointer)
  }
  const keys = Object.fromEntries(Object.entries(value.http.keys).filter(isThere))
  return { ...value, http: { ...value.http, keys } }
}

/** The config with every section that is broken replaced by its defaults, so that the others are still looked at. */
function soundSections({ value, broken }: Checked): RootConfig | undefined {
  if (!isObject(value)) return undefined
  const whole = Object.entries(value).filter(([key]) => !broken.some((pointer) => sectionOf(pointer) === key))
  const ids = isObject(value.plugins) ? Object.keys(value.plugins) : []
  const plugins = Object.fromEntries(ids.map((id) => [id, { use: '-' }]))
  const patched = validate(RootConfig, { ...Object.fromEntries(whole), plugins }, '', NOTHING)
  return isRoot(patched.value, patched.broken) ? patched.value : undefined
}

const NOTHING = { placeholders: new Map<string, string>(), missing: new Set<string>() }

const sectionOf = (pointer: string): string | undefined => pointer.split('/')[1]

function isRoot(value: unknown, broken: readonly string[]): value is RootConfig {
  return isObject(value) && broken.length === 0
}
