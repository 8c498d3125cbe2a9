/** The schema that editors read: the root, and for each plugin of this installation its own options. Pure. */

import type { Plugin } from '../plugin.ts'
import { isObject } from './pointer.ts'
import { RootConfig } from './root-schema.ts'
import { asSchema, closed } from './schema.ts'

/** A plugin, and the path from the installation's folder by which a config names it. */
export interface NamedPlugin {
  readonly use: string
  readonly plugin: Plugin
}

/** Makes the schema (JSON Schema draft-07). What it says of a file is what `earshot check` says, or less. */
export function editorSchema(plugins: readonly NamedPlugin[]): object {
  const root = asObject(forEditors(RootConfig))
  const properties = asObject(root.properties)
  const entries = asObject(properties.plugins)
  const entry = forEditors(asSchema(RootConfig.properties.plugins.patternProperties['^.*$']))
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'edge.config.json',
    ...root,
    properties: {
      ...properties,
      plugins: {
        type: 'object',
        description: entries.description,
        additionalProperties: { ...asObject(entry), allOf: plugins.map(branch) },
      },
    },
  }
}

/** Its text, as it is committed. */
export function editorSchemaText(plugins: readonly NamedPlugin[]): string {
  return `${JSON.stringify(editorSchema(plugins), null, 2)}\n`
}

function branch({ use, plugin }: NamedPlugin): object {
  const folder = use.replace(/^\.\//, '').replace(/\/index\.[jt]s$/, '')
  const pattern = `(^|/)${RegExp.escape(folder)}(/index\\.[jt]s)?$`
  const services = Object.keys({ ...plugin.requires, ...plugin.optional })
  const bind = {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(services.map((local) => [local, { type: 'string' }])),
  }
  return {
    if: { properties: { use: { pattern } }, required: ['use'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { options: forEditors(plugin.options), bind } },
  }
}

/** Closed; what has a default need not be written; what not every text is may be written as a placeholder. */
function forEditors(schema: unknown): unknown {
  return widened(closed(JSON.parse(JSON.stringify(schema))))
}

function widened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(widened)
  if (!isObject(schema)) return schema
  const { type, required, properties, description, default: fallback } = schema
  if (type === 'integer' || type === 'number' || type === 'boolean' || isNarrow(schema)) {
    const note = {
      ...(description ? { description } : {}),
      ...('default' in schema ? { default: fallback } : {}),
    }
    if ('const' in schema) return schema
    return { ...note, anyOf: [schema, { type: 'string', pattern: '\\$\\{' }] }
  }
  const out: Record<string, unknown> = { ...schema }
  for (const part of ['anyOf', 'items', 'additionalProperties']) {
    if (part in out) out[part] = widened(out[part])
  }
  for (const part of ['properties', 'patternProperties']) {
    if (isObject(out[part])) {
      out[part] = Object.fromEntries(Object.entries(out[part]).map(([name, inner]) => [name, widened(inner)]))
    }
  }
  if (Array.isArray(required) && isObject(properties)) {
    out.required = required.filter((name) => !('default' in asObject(properties[String(name)])))
  }
  return out
}

/** A placeholder itself need not have the form that is asked of what it stands for. */
function isNarrow({ type, pattern, minLength, maxLength, enum: values }: Record<string, unknown>): boolean {
  if (Array.isArray(values)) return values.every((value) => typeof value === 'string')
  return type === 'string' && (pattern !== undefined || Number(minLength ?? 0) > 1 || maxLength !== undefined)
}

function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}
