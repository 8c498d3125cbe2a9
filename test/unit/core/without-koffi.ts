/** Runs code as on a machine for which koffi is not built. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..', '..')

const HOOKS = `
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve(name, context, next) {
      if (name === 'koffi') throw new Error('not built for this machine')
      return next(name, context)
    },
  })
`

/** What `script`, an ES module in the repository's root that imports dynamically, prints; its errors if it fails. */
export function printedWithoutKoffi(script: string): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', `${HOOKS}${script}`],
    { cwd: ROOT, encoding: 'utf8' },
  )
  return status === 0 ? stdout.trim() : stderr
}
