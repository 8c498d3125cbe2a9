/** Turns a validator's errors into words for operators. Values are never quoted: they may be secret. Pure. */

import type { ErrorObject } from 'ajv'
import { isObject, join } from './pointer.ts'
import type { ConfigProblem } from './problem.ts'
import { asSchema, type Schema } from './schema.ts'
import { hintFor, suggest } from './suggest.ts'

/**
 * A union fails once by itself and once for each branch. What is kept: the errors inside the branch that was meant,
 * or the union's own when no branch is near.
 */
export function settleUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  const unions = errors.filter((error) => error.keyword === 'anyOf').sort(byDepth)
  let left = [...errors]
  for (const union of unions) {
    if (!left.includes(union)) continue
    const inside = left.filter((error) => error.schemaPath.startsWith(`${union.schemaPath}/`))
    const meant = bestBranch(union, inside)
    const drop = new Set<ErrorObject>(meant ? [...inside, union] : inside)
    for (const error of meant ?? []) drop.delete(error)
    left = left.filter((error) => !drop.has(error)).map((error) => described(error, union))
  }
  return left
}

/** What a union's branch does not say of itself, the union says. */
function described(error: ErrorObject, union: ErrorObject): ErrorObject {
  const isOwn =
    error.instancePath === union.instancePath && error.schemaPath.startsWith(`${union.schemaPath}/`)
  if (!isOwn || error.keyword === 'anyOf') return error
  const { description } = asSchema(union.parentSchema)
  return { ...error, parentSchema: { description, ...error.parentSchema } }
}

const byDepth = (a: ErrorObject, b: ErrorObject): number => a.schemaPath.length - b.schemaPath.length

function bestBranch(union: ErrorObject, inside: readonly ErrorObject[]): ErrorObject[] | undefined {
  const branches = new Map<string, ErrorObject[]>()
  for (const error of inside) {
    const branch = error.schemaPath.slice(union.schemaPath.length + 1).split('/')[0]!
    branches.set(branch, [...(branches.get(branch) ?? []), error])
  }
  const scored = [...branches.values()].map((own) => ({ own, score: score(union, own) }))
  const best = scored.sort((a, b) => a.score - b.score)[0]
  return best && best.score < 100 ? best.own : undefined
}

/** How far a branch is from what was written: another type outright, another variant, or just faults inside. */
function score(union: ErrorObject, errors: readonly ErrorObject[]): number {
  const shape = ['type', 'const', 'enum']
  return errors.reduce((sum, { instancePath, keyword }) => {
    if (!shape.includes(keyword)) return sum + 1
    if (instancePath === union.instancePath) return sum + 100
    return sum + (keyword === 'const' ? 10 : 1)
  }, 0)
}

/** One thing that is wrong, in words; `base` goes in front of its pointer. */
export function explain(error: ErrorObject, base: string): ConfigProblem {
  const at = base + error.instancePath
  const schema = asSchema(error.parentSchema)
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownKey(at, String(error.params.additionalProperty), schema, error.data)
    case 'required':
      return missingKey(at, String(error.params.missingProperty), schema)
    case 'enum':
      return choice(at, error.params.allowedValues, error.data)
    case 'const':
      return choice(at, [error.params.allowedValue], error.data)
    case 'anyOf':
      return anyOf(at, schema, error.data)
    default:
      return problem(at, `must be ${rule(error)}`, schema.description)
  }
}

function unknownKey(at: string, key: string, schema: Schema, data: unknown): ConfigProblem {
  const given = isObject(data) ? Object.keys(data) : []
  const known = Object.keys(schema.properties ?? {})
  const free = known.filter((name) => !given.includes(name))
  const list = known.length > 0 ? `known options: ${known.join(', ')}` : 'there are no options here'
  return problem(join(at, key), `unknown option "${key}"`, hintFor(key, free) ?? hintFor(key, known, list))
}

function missingKey(at: string, key: string, schema: Schema): ConfigProblem {
  return problem(at, `"${key}" is missing`, schema.properties?.[key]?.description)
}

function choice(at: string, allowed: unknown, data: unknown): ConfigProblem {
  const values = Array.isArray(allowed) ? allowed : []
  const list = values.map((value) => JSON.stringify(value)).join(', ')
  const words = values.filter((value) => typeof value === 'string')
  const near = typeof data === 'string' ? suggest(data, words) : undefined
  return problem(
    at,
    `must be ${values.length > 1 ? 'one of ' : ''}${list}`,
    near && `did you mean "${near}"?`,
  )
}

function anyOf(at: string, schema: Schema, data: unknown): ConfigProblem {
  const branches = schema.anyOf ?? []
  const constants = branches.filter((branch) => 'const' in branch).map((branch) => branch.const)
  if (constants.length === branches.length) return choice(at, constants, data)
  const { hint } = choice(at, constants, data)
  const kinds = branches.map((branch) =>
    'const' in branch ? JSON.stringify(branch.const) : aType(branch.type ?? 'value'),
  )
  return problem(at, `must be ${kinds.join(' or ')}`, hint ?? schema.description)
}

function problem(pointer: string, message: string, hint: string | undefined): ConfigProblem {
  return { pointer, message, ...(hint ? { hint } : {}) }
}

const aType = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`)

/** What comes after "must be". */
function rule({ keyword, params, message }: ErrorObject): string {
  const limit = String(params.limit)
  const plural = limit === '1' ? '' : 's'
  switch (keyword) {
    case 'type':
      return Array.isArray(params.type) ? params.type.join(' or ') : aType(String(params.type))
    case 'minimum':
      return `${limit} or more`
    case 'maximum':
      return `${limit} or less`
    case 'exclusiveMinimum':
      return `more than ${limit}`
    case 'exclusiveMaximum':
      return `less than ${limit}`
    case 'minLength':
      return limit === '1' ? 'a string that is not empty' : `at least ${limit} character${plural} long`
    case 'maxLength':
      return `at most ${limit} character${plural} long`
    case 'minItems':
      return `a list of ${limit} or more`
    case 'maxItems':
      return `a list of ${limit} at most`
    case 'uniqueItems':
      return 'a list in which nothing comes twice'
    case 'pattern':
      return `text that matches ${String(params.pattern)}`
    default:
      return (message ?? keyword).replace(/^must be /, '')
  }
}
