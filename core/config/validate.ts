/** Checks a value against a TypeBox schema: fills defaults, reads filled-in text as the schema's type. No I/O. */

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { explain, settleUnions } from './explain.ts'
import type { Filled } from './interpolate.ts'
import { replaceAt, valueAt } from './pointer.ts'
import type { ConfigProblem } from './problem.ts'
import { asSchema, closed, withDefaults } from './schema.ts'

const SETTINGS = { allErrors: true, strict: false, verbose: true, validateFormats: false }

/** What came of a check: the value with defaults and real types, and what is wrong with it. */
export interface Checked {
  readonly value: unknown
  readonly problems: ConfigProblem[]
  /** Pointers of everything that has another shape than the schema's type says, whether or not it is a problem. */
  readonly broken: readonly string[]
  /** True when nothing is wrong, or nothing but keys that nobody knows: the others can be looked at further. */
  readonly sound: boolean
}

/** Faults that leave a value's type as it should be. */
const HARMLESS = ['additionalProperties', 'minLength', 'maxLength', 'pattern', 'minimum', 'maximum']

/**
 * Checks `value`, which stands at `base` in the file. Unknown keys are problems. Text that was filled in becomes a
 * number or a boolean where the schema wants one; text that could not be filled in is left out of the check.
 * Throws when the schema itself is none.
 */
export function validate(
  schema: object,
  value: unknown,
  base: string,
  filled: Pick<Filled, 'placeholders' | 'missing'>,
): Checked {
  // One each: a shared one would refuse a schema with an $id when a second instance of its plugin comes.
  const check = new Ajv(SETTINGS).compile(asSchema(closed(schema)))
  const complete = withDefaults(asSchema(schema), value)
  const all = run(check, complete, base, filled)
  const errors = settleUnions(all).filter((error) => !leftOut(error, base, filled.missing))
  return {
    value: complete,
    problems: errors.map((error) => withSource(explain(error, base), filled)),
    broken: all
      .filter(({ keyword }) => !HARMLESS.includes(keyword))
      .map((error) => base + error.instancePath),
    sound: errors.every(({ keyword }) => keyword === 'additionalProperties'),
  }
}

/** Runs the check again for as long as reading text as another type helps. */
function run(
  check: ValidateFunction,
  value: unknown,
  base: string,
  { placeholders, missing }: Pick<Filled, 'placeholders' | 'missing'>,
): ErrorObject[] {
  for (;;) {
    if (check(value)) return []
    const errors = check.errors ?? []
    const read = errors.some((error) => {
      const at = base + error.instancePath
      return placeholders.has(at) && !missing.has(at) && coerce(error, value)
    })
    if (!read) return errors
  }
}

function coerce(error: ErrorObject, root: unknown): boolean {
  if (error.keyword !== 'type') return false
  const text = valueAt(root, error.instancePath)
  if (typeof text !== 'string') return false
  const wanted = error.params.type
  if (wanted === 'integer' || wanted === 'number') {
    if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text.trim())) return false
    return replaceAt(root, error.instancePath, Number(text))
  }
  if (wanted === 'boolean' && (text === 'true' || text === 'false')) {
    return replaceAt(root, error.instancePath, text === 'true')
  }
  return false
}

function leftOut(error: ErrorObject, base: string, missing: ReadonlySet<string>): boolean {
  const at = base + error.instancePath
  if (missing.has(at)) return true
  return error.keyword === 'anyOf' && [...missing].some((pointer) => pointer.startsWith(`${at}/`))
}

/** A value that came from outside the file says so, since the file does not show it. */
function withSource(problem: ConfigProblem, { placeholders }: Pick<Filled, 'placeholders'>): ConfigProblem {
  const source = placeholders.get(problem.pointer)
  if (source === undefined) return problem
  const hint = `the value comes from ${source}${problem.hint === undefined ? '' : `; ${problem.hint}`}`
  return { ...problem, hint }
}
