/**
 * TypeBox's `Type`, loaded when its first member is asked for: it is some hundred modules, and of all that plugins bring
 * along only their options need it.
 */

import { createRequire } from 'node:module'

type Builder = typeof import('typebox').Type

let loaded: Builder | undefined

function load(): Builder {
  if (loaded === undefined) {
    const module: typeof import('typebox') = createRequire(import.meta.url)('typebox')
    loaded = module.Type
  }
  return loaded
}

/** Makes schemas: `Type.Object({ … })` and so on. */
export const Type: Builder = new Proxy<Builder>(Object.create(null), {
  get: (_target, name) => Reflect.get(load(), name),
  has: (_target, name) => Reflect.has(load(), name),
})
