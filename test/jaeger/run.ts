/**
 * `npm run test:jaeger`: sends a call's traces to a real Jaeger and reads them back through its API. Jaeger is built
 * where Go is installed; elsewhere the test is skipped, aloud.
 */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buildJaeger } from './build.ts'

const jaeger = buildJaeger()
if ('missing' in jaeger) {
  console.log(`skipped: no Jaeger to test with: ${jaeger.missing}`)
} else {
  console.log(`testing with ${jaeger.program}`)
  const { status } = spawnSync(
    process.execPath,
    ['--test', '--test-timeout=120000', join(import.meta.dirname, 'read-back.ts')],
    { stdio: 'inherit', env: { ...process.env, EARSHOT_JAEGER: jaeger.program } },
  )
  process.exitCode = status ?? 1
}
