/** Config files for edges under test, made from the one that is shipped. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/** Both roles, memory recovery, loopback and the demo page, on ports that the environment names. */
export const LOOPBACK_CONFIG = join(import.meta.dirname, '..', '..', 'deploy', 'roles', 'loopback.json')

/** A plugin's entry in a config. */
export interface PluginEntry {
  readonly use: string
  readonly options?: object
}

/** A config file that is gone at the end of the scope: `await using`. */
export interface ConfigFile extends AsyncDisposable {
  readonly path: string
}

/**
 * The shipped loopback config with some plugins replaced, added, or (undefined) left out. `use` is relative to the
 * repository's root.
 */
export async function loopbackWith(
  changes: Readonly<Record<string, PluginEntry | undefined>>,
): Promise<ConfigFile> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-config-'))
  const config = JSON.parse(await readFile(LOOPBACK_CONFIG, 'utf8'))
  const root = resolve(import.meta.dirname, '..', '..')
  for (const plugin of Object.values<{ use: string }>(config.plugins)) {
    plugin.use = resolve(dirname(LOOPBACK_CONFIG), plugin.use)
  }
  for (const [id, entry] of Object.entries(changes)) {
    if (entry) config.plugins[id] = { ...entry, use: resolve(root, entry.use) }
    else delete config.plugins[id]
  }
  delete config.$schema
  const path = join(folder, 'edge.config.json')
  await writeFile(path, JSON.stringify(config))
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}
