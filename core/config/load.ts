/** Reads edge.config.json and everything it names, and reports every fault at once. Opens nothing, starts nothing. */

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { findPlugin, knownPlugins, PluginFault } from '../find-plugin.ts'
import { type Instance, type Wired, wire } from '../graph.ts'
import type { NodeIdentity } from '../plugin.ts'
import { parseAddress } from '../wire/address.ts'
import { listenAddress } from './check-root.ts'
import { Findings } from './findings.ts'
import { type Filled, interpolate } from './interpolate.ts'
import { JsonFault, type Node, readJson, toValue } from './json.ts'
import { duplicates, placeOf } from './locate.ts'
import { isObject, join } from './pointer.ts'
import { ConfigError } from './problem.ts'
import { readRoot } from './read-root.ts'
import { secretsOf } from './redact.ts'
import type { RootConfig } from './root-schema.ts'
import { asSchema } from './schema.ts'
import { validate } from './validate.ts'

/** A config that holds together. */
export interface Loaded {
  /** The path it was read from, as it was given. */
  readonly file: string
  readonly config: RootConfig
  readonly node: NodeIdentity
  /** The plugins, in the order in which they are set up. */
  readonly order: readonly Wired[]
  /** Replaces every secret of the config in a text. */
  readonly redact: (text: string) => string
}

/** Loads a config file; throws ConfigError with everything that is wrong. Placeholders are filled from `env`. */
export async function load(
  file: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Loaded> {
  const text = await read(file)
  const tree = parse(file, text)
  const found = new Findings(file, text, tree)
  for (const { pointer, at, first } of duplicates(tree)) {
    const { line, column } = placeOf(text, first)
    const key = pointer.slice(pointer.lastIndexOf('/') + 1)
    found.add(
      { pointer, message: `"${key}" stands here twice`, hint: `it is first at ${line}:${column}` },
      at,
    )
  }
  const filled = interpolate(toValue(tree), {
    env,
    readFile: (path) => readFileSync(resolve(dirname(file), path), 'utf8'),
  })
  found.addAll(filled.problems)
  found.hide(filled.fromFiles)
  const root = readRoot(filled)
  found.addAll(root.problems)
  found.hide(root.secrets)
  const loaded = await loadPlugins(file, root.value, filled, found)
  const order = await wireAll(file, loaded, found)
  found.throwIfAny()
  const { config } = root
  if (!config) throw new Error('a config without problems must be complete')
  return { file, config, node: identity(config), order, redact: found.redact }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const absent = isObject(cause) && cause.code === 'ENOENT'
    const reason = isObject(cause) && typeof cause.code === 'string' ? ` (${cause.code})` : ''
    const message = absent ? 'there is no such file' : `it cannot be read${reason}`
    throw new ConfigError(file, [{ pointer: '', message, hint: 'name an edge.config.json that exists' }])
  }
}

function parse(file: string, text: string): Node {
  try {
    return readJson(text)
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault
    const { message, hint } = fault
    throw new ConfigError(file, [
      { pointer: '', message, ...(hint === undefined ? {} : { hint }), ...placeOf(text, fault.at) },
    ])
  }
}

async function loadPlugins(
  file: string,
  root: unknown,
  filled: Filled,
  found: Findings,
): Promise<{ instances: Instance[]; incomplete: boolean }> {
  const entries = isObject(root) && isObject(root.plugins) ? Object.entries(root.plugins) : []
  const instances: Instance[] = []
  for (const [id, entry] of entries) {
    const at = join('/plugins', id)
    if (!isObject(entry) || typeof entry.use !== 'string' || entry.use === '') continue
    const instance = await loadOne(file, at, id, entry.use, entry, filled, found)
    if (instance) instances.push(instance)
  }
  return { instances, incomplete: instances.length < entries.length }
}

async function loadOne(
  file: string,
  at: string,
  id: string,
  use: string,
  entry: Readonly<Record<string, unknown>>,
  filled: Filled,
  found: Findings,
): Promise<Instance | undefined> {
  try {
    const plugin = await findPlugin(use, file)
    if (!isObject(entry.options)) return undefined
    const base = `${at}/options`
    const checked = validate(plugin.options, entry.options, base, filled)
    found.hide(secretsOf(asSchema(plugin.options), checked.value, base, filled))
    const whole = ![...filled.missing].some((pointer) => pointer === base || pointer.startsWith(`${base}/`))
    found.addAll(checked.problems)
    const options = isObject(checked.value) ? checked.value : {}
    if (checked.sound && whole) {
      const more = plugin.check?.(options) ?? []
      found.addAll(more.map((problem) => ({ ...problem, pointer: base + problem.pointer })))
    }
    return { id, use, plugin, options, bind: bindsOf(entry.bind) }
  } catch (cause) {
    const hint = cause instanceof PluginFault ? cause.hint : String(cause)
    const message = cause instanceof PluginFault ? cause.message : `the plugin "${use}" cannot be checked`
    found.add({ pointer: `${at}/use`, message, ...(hint === undefined ? {} : { hint }) })
    return undefined
  }
}

function bindsOf(value: unknown): Record<string, string> {
  const entries = isObject(value) ? Object.entries(value) : []
  return Object.fromEntries(entries.flatMap(([key, id]) => (typeof id === 'string' ? [[key, id]] : [])))
}

async function wireAll(
  file: string,
  { instances, incomplete }: { instances: readonly Instance[]; incomplete: boolean },
  found: Findings,
): Promise<readonly Wired[]> {
  let wiring = wire(instances, [], incomplete)
  if (wiring.missing.length > 0) wiring = wire(instances, await knownPlugins(file), incomplete)
  found.addAll(wiring.problems)
  return wiring.order
}

function identity({ node, http }: RootConfig): NodeIdentity {
  const advertise = node.advertise === 'auto' ? undefined : node.advertise
  return {
    cluster: node.cluster,
    advertise: advertise?.flatMap((text) => parseAddress(text) ?? []),
    reachable: !(listenAddress(http.listen)?.isLoopback ?? true),
  }
}
