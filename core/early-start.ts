/**
 * The first step of a start: the UDP sockets of plugins that say early where they listen, before their options are
 * checked and before anything heavy loads. What is wrong with the config is not told here but when it is loaded.
 */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { interpolate } from './config/interpolate.ts'
import { readJson, toValue } from './config/json.ts'
import { isObject } from './config/pointer.ts'
import { builtInFile, installationFolder } from './self-resolve.ts'
import { KERNEL_BUFFER } from './udp/batched-engine.ts'
import { openEarlySockets } from './udp/early-sockets.ts'
import { Address } from './wire/address.ts'

/** In a plugin's folder: exports `earlyAddresses(options: unknown): Address[]`, and imports nothing heavy. */
const EARLY = `early${extname(import.meta.filename)}`

/** Opens what the plugins of this installation that a config names will listen on. Never rejects. */
export async function openEarly(
  file: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<void> {
  try {
    const tree = toValue(readJson(readFileSync(file, 'utf8')))
    const readFile = (path: string): string => readFileSync(resolve(dirname(file), path), 'utf8')
    const config = interpolate(tree, { env, readFile }).value
    if (!isObject(config) || !isObject(config.plugins)) return
    if (isObject(config.node) && config.node.udp === 'dgram') return
    for (const entry of Object.values(config.plugins)) {
      if (isObject(entry) && typeof entry.use === 'string') await open(file, entry.use, entry.options ?? {})
    }
  } catch {
    // Whatever it is, loading the config finds it again and says where it is.
  }
}

async function open(file: string, use: string, options: unknown): Promise<void> {
  const path = earlyFile(file, use)
  if (path === undefined) return
  const module: unknown = await import(pathToFileURL(path).href)
  const addressesOf = isObject(module) ? module.earlyAddresses : undefined
  const addresses: unknown = typeof addressesOf === 'function' ? addressesOf(options) : []
  if (!Array.isArray(addresses)) return
  openEarlySockets(
    addresses.filter((address) => address instanceof Address),
    { receiveBuffer: KERNEL_BUFFER, sendBuffer: KERNEL_BUFFER },
  )
}

/** A plugin of this installation alone: another one's file of that name may be anything. */
function earlyFile(file: string, use: string): string | undefined {
  const isPath = /^\.{0,2}\//.test(use)
  const path = isPath ? resolve(dirname(file), use) : builtInFile(use)
  if (path?.startsWith(join(installationFolder(), 'plugins') + sep) !== true) return undefined
  const beside = join(extname(path) === '' ? path : dirname(path), EARLY)
  return existsSync(beside) ? beside : undefined
}
