/** Decides which plugin gives what to whom, and the order to set them up in. Pure: no plugin code runs. */

import { join } from './config/pointer.ts'
import type { ConfigProblem } from './config/problem.ts'
import { hintFor } from './config/suggest.ts'
import type { Plugin } from './plugin.ts'

/** One plugin as the config names it, its options checked. */
export interface Instance {
  readonly id: string
  readonly use: string
  readonly plugin: Plugin
  readonly options: Readonly<Record<string, unknown>>
  readonly bind: Readonly<Record<string, string>>
}

/** Who gives a service: the plugin's id, and that plugin's own name for it. */
export interface Giver {
  readonly id: string
  readonly local: string
}

/** A plugin whose every service has a giver; undefined for an optional one that nobody gives. */
export interface Wired extends Instance {
  readonly from: ReadonlyMap<string, Giver | undefined>
}

/** What a plugin that is not in the config would provide, for hints. */
export interface KnownPlugin {
  readonly use: string
  readonly provides: readonly string[]
}

/** The outcome: an order, empty when there are problems; and the services that nobody gives. */
export interface Wiring {
  readonly order: readonly Wired[]
  readonly problems: readonly ConfigProblem[]
  readonly missing: readonly string[]
}

/**
 * Wires all instances. `known` are plugins to propose for services that nobody gives. `incomplete` means that some
 * plugins of the file could not be loaded: then nothing is said of services that one of those may give.
 */
export function wire(
  instances: readonly Instance[],
  known: readonly KnownPlugin[] = [],
  incomplete = false,
): Wiring {
  const problems: ConfigProblem[] = []
  const missing: string[] = []
  const wired = instances.map((one) => {
    const asked = { ...one.plugin.optional, ...one.plugin.requires }
    const from = new Map<string, Giver | undefined>()
    for (const [local, key] of Object.entries(asked)) {
      const givers = giversOf(instances, one, key.name)
      const { giver, problem } = choose(one, local, key.name, givers, instances)
      if (incomplete && !giver && givers.length < 2) continue
      if (problem) problems.push(problem)
      else if (!giver && local in (one.plugin.requires ?? {})) {
        missing.push(key.name)
        problems.push(nobody(one, key.name, known))
      }
      from.set(local, giver)
    }
    problems.push(...uselessBinds(one, Object.keys(asked)))
    return { ...one, from }
  })
  const order = problems.length > 0 ? [] : sort(wired, problems)
  return { order: problems.length > 0 ? [] : order, problems, missing }
}

function giversOf(instances: readonly Instance[], asking: Instance, name: string): Giver[] {
  return instances
    .filter((one) => one !== asking)
    .flatMap(({ id, plugin }) => {
      const local = Object.entries(plugin.provides ?? {}).find(([, key]) => key.name === name)?.[0]
      return local === undefined ? [] : [{ id, local }]
    })
}

function choose(
  one: Instance,
  local: string,
  name: string,
  givers: readonly Giver[],
  instances: readonly Instance[],
): { giver?: Giver; problem?: ConfigProblem } {
  const at = join('/plugins', one.id)
  const wanted = Object.hasOwn(one.bind, local) ? one.bind[local] : undefined
  const ids = givers.map((giver) => giver.id)
  if (wanted !== undefined) {
    const giver = givers.find(({ id }) => id === wanted)
    if (giver) return { giver }
    return { problem: badBind(join(`${at}/bind`, local), wanted, name, ids, instances) }
  }
  if (givers.length > 1) {
    const message = `${givers.length} plugins provide ${name}: ${ids.join(', ')}`
    const hint = `choose one: "bind": { "${local}": "${ids[0]}" }`
    return { problem: { pointer: at, message, hint } }
  }
  return givers[0] ? { giver: givers[0] } : {}
}

function badBind(
  pointer: string,
  wanted: string,
  name: string,
  ids: readonly string[],
  instances: readonly Instance[],
): ConfigProblem {
  const exists = instances.some(({ id }) => id === wanted)
  const message = exists ? `"${wanted}" does not provide ${name}` : `there is no plugin "${wanted}"`
  const giving =
    ids.length > 0 ? `these provide ${name}: ${ids.join(', ')}` : `no plugin here provides ${name}`
  return { pointer, message, hint: hintFor(wanted, ids, giving) ?? giving }
}

function nobody(one: Instance, name: string, known: readonly KnownPlugin[]): ConfigProblem {
  const would = known.filter(({ provides }) => provides.includes(name)).map(({ use }) => `"${use}"`)
  const hint = would.length > 0 ? { hint: `these would: ${would.join(', ')}` } : {}
  return {
    pointer: join('/plugins', one.id),
    message: `needs ${name}, and no plugin in this file provides it`,
    ...hint,
  }
}

function uselessBinds(one: Instance, locals: readonly string[]): ConfigProblem[] {
  return Object.keys(one.bind)
    .filter((local) => !locals.includes(local))
    .map((local) => {
      const uses = locals.length > 0 ? `it uses: ${locals.join(', ')}` : 'it uses no services'
      const pointer = `${join('/plugins', one.id)}${join('/bind', local)}`
      return {
        pointer,
        message: `${one.plugin.name} uses no service called "${local}"`,
        hint: hintFor(local, locals, uses) ?? uses,
      }
    })
}

/** Givers before those who need them, otherwise in the order of the file. */
function sort(all: readonly Wired[], problems: ConfigProblem[]): Wired[] {
  const byId = new Map(all.map((one) => [one.id, one]))
  const order: Wired[] = []
  const done = new Set<string>()
  const visit = (one: Wired, path: readonly string[]): void => {
    if (done.has(one.id)) return
    const from = path.indexOf(one.id)
    if (from >= 0) {
      problems.push(circle(path.slice(from)))
      return
    }
    for (const giver of one.from.values()) {
      if (giver && problems.length === 0) visit(byId.get(giver.id)!, [...path, one.id])
    }
    done.add(one.id)
    order.push(one)
  }
  for (const one of all) visit(one, [])
  return order
}

function circle(ids: readonly string[]): ConfigProblem {
  return {
    pointer: join('/plugins', ids[0]!),
    message: `plugins need each other in a circle: ${[...ids, ids[0]].join(' → ')}`,
    hint: 'take one of them out, or bind a service of one of them to another plugin',
  }
}
