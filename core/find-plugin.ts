/** Imports the plugins a config names, and knows the ones that came with this installation. */

import { existsSync, globSync, statSync } from 'node:fs'
import { dirname, extname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isObject } from './config/pointer.ts'
import { hintFor } from './config/suggest.ts'
import { EdgeError } from './errors.ts'
import type { KnownPlugin } from './graph.ts'
import { importFault } from './import-fault.ts'
import type { Plugin } from './plugin.ts'
import { asFrom, builtInFile, installationFolder, resolveSelf } from './self-resolve.ts'

const SOURCE = /\.[cm]?[jt]s$/
const INDEX = ['index.ts', 'index.js']

/** Why a plugin cannot be used, and what may help. */
export class PluginFault extends Error {
  readonly hint: string | undefined

  constructor(message: string, hint?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.hint = hint
  }
}

/** Imports the plugin that `use` names in the config `file`: a path relative to it, or a package. Throws PluginFault. */
export async function findPlugin(use: string, file: string): Promise<Plugin> {
  resolveSelf()
  const module = await load(use, file)
  const plugin = isObject(module) ? module.default : undefined
  const fault = shapeFault(plugin)
  if (fault !== undefined) throw new PluginFault(`"${use}" is no plugin: ${fault}`, HOW)
  if (!isPlugin(plugin)) throw new PluginFault(`"${use}" is no plugin`, HOW)
  return plugin
}

const HOW = "a plugin's default export is definePlugin({ name, api: 1, options, setup })"

async function load(use: string, file: string): Promise<unknown> {
  const isPath = /^(\.{0,2}\/|\.{1,2}$)/.test(use)
  const path = isPath ? asFile(resolve(dirname(file), use)) : builtInFile(use)
  if (path !== undefined && !existsSync(path)) {
    const what = isPath ? 'there is no such file' : 'Earshot has no such plugin'
    const hint = isPath ? nearPath(use, file) : nearPackage(use, file)
    throw new PluginFault(`cannot load "${use}": ${what}`, hint)
  }
  if (path !== undefined && statSync(path).isDirectory()) {
    throw new PluginFault(`cannot load "${use}": there is no ${INDEX.join(' or ')} in this folder`)
  }
  try {
    return await import(path === undefined ? asFrom(resolve(file), use) : pathToFileURL(path).href)
  } catch (cause) {
    const code = isObject(cause) ? cause.code : undefined
    const why = importFault(cause, dirname(resolve(file)), import.meta.dirname)
    if (path === undefined && code === 'ERR_MODULE_NOT_FOUND' && isAbout(why, use)) {
      throw new PluginFault(
        `cannot load "${use}": no such package is installed`,
        nearPackage(use, file),
        cause,
      )
    }
    throw new PluginFault(`cannot load "${use}": it fails when it is imported`, why, cause)
  }
}

/** Tells an absent package from one that is there and misses another. */
function isAbout(message: string, use: string): boolean {
  const name = /^(@[^/]+\/)?[^/]+/.exec(use)?.[0] ?? use
  return message.includes(`'${name}'`)
}

/** A folder stands for the index file in it. */
function asFile(path: string): string {
  if (SOURCE.test(path) || !existsSync(path) || !statSync(path).isDirectory()) return path
  const inside = INDEX.map((name) => join(path, name)).find((name) => existsSync(name))
  return inside ?? path
}

function nearPath(use: string, file: string): string | undefined {
  const folder = dirname(resolve(file))
  const extension = ['.ts', '.js'].find((end) => existsSync(resolve(folder, use + end)))
  if (extension !== undefined) return `did you mean "${use}${extension}"?`
  const own = builtInFile(`earshot/${/plugins\/.*?(?=\/(?:index\.[jt]s)?$|$)/.exec(use)?.[0]}`)
  if (own !== undefined && existsSync(own))
    return `the one that comes with Earshot is "${nameFor(own, folder)}"`
  const beside = pluginFiles(folder).map((path) => asPath(path, folder))
  const builtIn = pluginFiles(installationFolder()).map((path) => nameFor(path, folder))
  return hintFor(use, [...beside, ...builtIn], 'paths are relative to the config file')
}

/** How a config in `folder` names a plugin of this installation: by path from inside it, else as ours. */
function nameFor(path: string, folder: string): string {
  const inside = `${folder}${sep}`.startsWith(installationFolder())
  return inside ? asPath(path, folder) : `earshot/${slashed(path)}`
}

function asPath(path: string, folder: string): string {
  const text = relative(folder, path).replaceAll('\\', '/')
  return text.startsWith('.') ? text : `./${text}`
}

function nearPackage(use: string, file: string): string | undefined {
  const folder = dirname(resolve(file))
  const mightBe = existsSync(resolve(folder, use)) ? `a path starts with "./": "./${use}"` : undefined
  const builtIn = pluginFiles(installationFolder()).map((path) => `earshot/${slashed(path)}`)
  return (
    mightBe ?? hintFor(use, builtIn, 'a path starts with "./"; a package must be installed beside the config')
  )
}

const slashed = (path: string): string => dirname(relative(installationFolder(), path)).replaceAll('\\', '/')

/** Every plugin file below a folder's plugins/, sorted. */
function pluginFiles(folder: string): string[] {
  const own = extname(import.meta.filename)
  return globSync(`plugins/**/index${own}`, { cwd: folder, exclude: (name) => name === 'node_modules' })
    .sort()
    .map((path) => join(folder, path))
}

/** A plugin of this installation. `use` is relative to the installation's folder. */
export interface BuiltIn {
  readonly use: string
  readonly plugin: Plugin
}

/**
 * The plugins that came with this installation, sorted. Files that are no plugins are passed over. One that cannot be
 * imported is an EdgeError `plugin_failed`, unless `onFault` takes it.
 */
export async function builtIns(onFault: (fault: EdgeError) => void = fail): Promise<BuiltIn[]> {
  resolveSelf()
  const folder = installationFolder()
  const found: BuiltIn[] = []
  for (const path of pluginFiles(folder)) {
    const module: unknown = await import(pathToFileURL(path).href).catch((cause: unknown) => {
      const why = importFault(cause, folder, import.meta.dirname)
      onFault(new EdgeError('plugin_failed', `cannot load ${path}: ${why}`, { cause }))
    })
    const plugin = isObject(module) ? module.default : undefined
    if (isPlugin(plugin)) found.push({ use: `./${slashed(path)}/index${extname(path)}`, plugin })
  }
  return found
}

function fail(fault: EdgeError): never {
  throw fault
}

/** What the plugins of this installation provide, written as the config `file` would name them. */
export async function knownPlugins(file: string): Promise<KnownPlugin[]> {
  const folder = dirname(resolve(file))
  // For hints alone: one that does not load here has none to give.
  return (await builtIns(() => {})).map(({ use, plugin }) => {
    const provides = Object.values(plugin.provides ?? {}).map((key) => key.name)
    return { use: nameFor(resolve(installationFolder(), use), folder), provides }
  })
}

function isPlugin(value: unknown): value is Plugin {
  return shapeFault(value) === undefined
}

/** What keeps a value from being a plugin, or undefined. */
function shapeFault(value: unknown): string | undefined {
  if (value === undefined) return 'it has no default export'
  if (!isObject(value)) return 'its default export is no object'
  if (value.api !== 1) {
    const given =
      value.api === undefined ? 'says no "api" version' : `was written for api ${String(value.api)}`
    return `it ${given}, and this host speaks api 1`
  }
  if (typeof value.name !== 'string' || value.name === '') return '"name" must be a string'
  if (typeof value.setup !== 'function') return '"setup" must be a function'
  if (!isObject(value.options) || value.options.type !== 'object') return '"options" must be a Type.Object'
  if (value.check !== undefined && typeof value.check !== 'function') return '"check" must be a function'
  for (const part of ['requires', 'optional', 'provides']) {
    const keys = value[part]
    if (keys === undefined) continue
    const good =
      isObject(keys) && Object.values(keys).every((key) => isObject(key) && typeof key.name === 'string')
    if (!good) return `"${part}" must be an object of service keys`
  }
  return undefined
}
