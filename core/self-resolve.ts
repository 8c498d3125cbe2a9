/**
 * Lets a plugin in any folder `import … from 'earshot'` and get this very installation, the same module instance
 * that the host uses; and lets the host resolve a package name as the config file would.
 */

import { registerHooks } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const extension = extname(import.meta.filename)

/** The folder that holds core/ and plugins/, as a URL ending in a slash. */
const INSTALLATION = new URL('../', import.meta.url)

const DOORS: Readonly<Record<string, string>> = {
  earshot: new URL(`core/index${extension}`, INSTALLATION).href,
  'earshot/testing': new URL(`core/testing/index${extension}`, INSTALLATION).href,
}

/** Where a plugin that came with this installation lives: `earshot/plugins/relay`. */
const BUILT_IN = /^earshot\/(plugins\/[\w/-]+)$/
const AS_FROM = 'earshot-as-from:'

let installed = false

/** Installs the hook, once. Must run before any plugin is imported. */
export function resolveSelf(): void {
  if (installed) return
  installed = true
  registerHooks({
    resolve(specifier, context, next) {
      const asked = specifier.startsWith(AS_FROM) ? specifier.slice(AS_FROM.length).split('#') : undefined
      const name = asked ? decodeURIComponent(asked[1]!) : specifier
      const own = ownUrl(name)
      if (own !== undefined) return { url: own, shortCircuit: true }
      return next(name, asked ? { ...context, parentURL: decodeURIComponent(asked[0]!) } : context)
    },
  })
}

/** The URL of what this installation serves under its own name. */
function ownUrl(name: string): string | undefined {
  if (Object.hasOwn(DOORS, name)) return DOORS[name]
  const file = builtInFile(name)
  return file === undefined ? undefined : pathToFileURL(file).href
}

/** Where `earshot/plugins/…` lies, whether or not it is there; undefined for every other name. */
export function builtInFile(name: string): string | undefined {
  const path = BUILT_IN.exec(name)?.[1]
  return path === undefined ? undefined : fileURLToPath(new URL(`${path}/index${extension}`, INSTALLATION))
}

/** What to pass to `import()` so that `name` is looked up as if `file` had asked for it. */
export function asFrom(file: string, name: string): string {
  return `${AS_FROM}${encodeURIComponent(pathToFileURL(file).href)}#${encodeURIComponent(name)}`
}

/** The folder of this installation. */
export function installationFolder(): string {
  return fileURLToPath(INSTALLATION)
}
