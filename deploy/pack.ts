/**
 * What `npm pack` and `npm publish` do besides (docs/adr/0005): `before` builds dist/ and makes package.json's doors lead
 * there, `after` puts package.json back as it was. A pack that was broken off is cleaned up by the next one.
 */

import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const manifest = join(root, 'package.json')
const kept = join(root, 'package.json.packing')

function restore(): void {
  if (existsSync(kept)) renameSync(kept, manifest)
}

/** JavaScript and types by tsc; beside them what plugins serve, and their READMEs. */
function build(): void {
  const dist = join(root, 'dist')
  rmSync(dist, { recursive: true, force: true })
  const { status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('tsc failed; nothing is packed')
  for (const path of globSync(['plugins/**/public', 'plugins/**/README.md'], { cwd: root })) {
    cpSync(join(root, path), join(dist, path), { recursive: true })
  }
}

/** In the clone the doors are sources; the package has none, since Node strips no types under node_modules. */
function pointAtDist(): void {
  copyFileSync(manifest, kept)
  const { scripts: _scripts, devDependencies: _tools, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'))
  const doors = Object.entries<string>(rest.exports).map(([name, path]) => [
    name,
    path.replace(/^\.\/(core\/.*)\.ts$/, './dist/$1.js'),
  ])
  const text = JSON.stringify({ ...rest, exports: Object.fromEntries(doors) }, null, 2)
  writeFileSync(manifest, `${text}\n`)
}

restore()
if (process.argv[2] === 'before') {
  build()
  pointAtDist()
}
