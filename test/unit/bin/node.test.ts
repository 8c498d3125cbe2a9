import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '../../..')
const { findNode } = await import(pathToFileURL(join(root, 'bin/node.js')).href)

test('a new enough Node is the one to use; otherwise the one that came with the install, if there is one', () => {
  assert.equal(findNode('24.0.0'), process.execPath)
  assert.equal(findNode('131.2.0'), process.execPath)
  assert.equal(findNode('20.19.0', 'sunos-x64'), undefined)
  const bundled = findNode('20.19.0')
  assert.ok(bundled, 'npm brought no Node along')
  const { stdout } = spawnSync(bundled, ['--version'], { encoding: 'utf8' })
  assert.match(stdout, /^v(2[4-9]|[3-9]\d)\./)
})

test('a child has the exit code, and the signals that the launcher gets', async () => {
  const launch = (...args: string[]) =>
    spawn(process.execPath, ['bin/node.js', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  assert.deepEqual(await once(launch('--eval', 'process.exit(7)'), 'exit'), [7, null])
  const waiting = launch(
    '--eval',
    'process.on("SIGTERM", () => process.exit(9)); setInterval(() => {}, 1e6); console.log(1)',
  )
  await once(waiting.stdout, 'data')
  waiting.kill('SIGTERM')
  assert.deepEqual(await once(waiting, 'exit'), [9, null])
})

test('the example backend starts by the launcher', async () => {
  const backend = spawn(process.execPath, ['bin/node.js', 'test/examples/echo-backend.ts', '0'], {
    cwd: root,
  })
  const [line] = await once(backend.stdout, 'data')
  assert.match(String(line), /"url": "ws:\/\/127\.0\.0\.1:\d+\/"/)
  backend.kill()
  await once(backend, 'exit')
})
