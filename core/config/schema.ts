/** A JSON Schema as far as the config needs to look into one, and small walks over it. Pure. */

import { isObject, join } from './pointer.ts'

/** The parts of a JSON Schema that are read here; anything else rides along. */
export interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly description?: string
  readonly writeOnly?: boolean
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly required?: readonly string[]
}

/** Reads any JSON value as a schema; what is no object is the empty schema. */
export function asSchema(value: unknown): Schema {
  return isObject(value) ? value : {}
}

/** The schema of one property of an object schema. */
function propertySchema(schema: Schema, key: string): Schema | undefined {
  const { properties } = schema
  if (properties && Object.hasOwn(properties, key)) return properties[key]
  for (const [pattern, inner] of Object.entries(schema.patternProperties ?? {})) {
    if (new RegExp(pattern, 'u').test(key)) return inner
  }
  return isObject(schema.additionalProperties) ? asSchema(schema.additionalProperties) : undefined
}

/** Calls `visit` for every value and every schema that may describe it; all branches of a union count. */
export function visit(
  schema: Schema,
  value: unknown,
  pointer: string,
  each: (schema: Schema, value: unknown, pointer: string) => void,
): void {
  each(schema, value, pointer)
  for (const branch of [...(schema.anyOf ?? []), ...(schema.allOf ?? [])]) visit(branch, value, pointer, each)
  if (Array.isArray(value) && schema.items) {
    for (const [i, item] of value.entries()) visit(schema.items, item, join(pointer, i), each)
  }
  if (!isObject(value)) return
  for (const [key, item] of Object.entries(value)) {
    const inner = propertySchema(schema, key)
    if (inner) visit(inner, item, join(pointer, key), each)
  }
}

/** A copy in which every object schema refuses unknown keys, unless it says otherwise. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (!isObject(schema)) return schema
  const out = Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, closedPart(key, inner)]))
  const open = !('additionalProperties' in out) && !('allOf' in out)
  return out.type === 'object' && isObject(out.properties) && open
    ? { ...out, additionalProperties: false }
    : out
}

function closedPart(keyword: string, value: unknown): unknown {
  if (['default', 'enum', 'const', 'examples', 'allOf'].includes(keyword)) return value
  if (!['properties', 'patternProperties'].includes(keyword) || !isObject(value)) return closed(value)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closed(inner)]))
}

/** `value` with the schema's defaults where nothing stands; inside a union, those of the branch that fits. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (value === undefined && 'default' in schema) return withDefaults(schema, structuredClone(schema.default))
  if (schema.anyOf) {
    const branch = schema.anyOf.find((one) => fits(one, value))
    return branch ? withDefaults(branch, value) : value
  }
  if (Array.isArray(value) && schema.items) {
    const { items } = schema
    return value.map((item) => withDefaults(items, item))
  }
  if (!isObject(value)) return value
  const given = Object.entries(value).map(([key, item]) => {
    const inner = propertySchema(schema, key)
    return [key, inner ? withDefaults(inner, item) : item] as const
  })
  const added = Object.entries(schema.properties ?? {})
    .filter(([key]) => !Object.hasOwn(value, key))
    .map(([key, inner]) => [key, withDefaults(inner, undefined)] as const)
    .filter(([, item]) => item !== undefined)
  return Object.fromEntries([...given, ...added])
}

/** True when a union's branch is the one meant: an object whose constants agree. */
function fits(schema: Schema, value: unknown): boolean {
  if (Array.isArray(value)) return schema.type === 'array'
  if (!isObject(value) || schema.type !== 'object') return false
  return Object.entries(schema.properties ?? {}).every(
    ([key, inner]) => inner.const === undefined || !(key in value) || value[key] === inner.const,
  )
}
