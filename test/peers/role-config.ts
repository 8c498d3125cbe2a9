/** The shipped config of a role with something changed, as a file of the test's own. */

import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { roleFile } from './edge-processes.ts'

/** What may be changed. `use` is relative to the repository, in what is there and in what is added. */
export interface RoleConfig {
  node: Record<string, unknown>
  plugins: Record<string, { use: string; options?: Record<string, unknown> }>
}

/** Writes it into a folder and resolves with the file's path. */
export async function writeRole(
  folder: string,
  role: 'relay' | 'transceiver' | 'loopback',
  change: (config: RoleConfig) => void,
): Promise<string> {
  const { $schema: _, ...config } = JSON.parse(await readFile(roleFile(role), 'utf8'))
  for (const plugin of Object.values<{ use: string }>(config.plugins))
    plugin.use = plugin.use.replace('../../', './')
  change(config)
  const root = resolve(roleFile(role), '..', '..', '..')
  for (const plugin of Object.values<{ use: string }>(config.plugins)) plugin.use = resolve(root, plugin.use)
  const path = join(folder, `${role}.json`)
  await writeFile(path, JSON.stringify(config))
  return path
}
