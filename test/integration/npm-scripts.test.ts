/** What npm is told, the edge hears: a supervisor or a container sends its signals to npm. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { it } from 'node:test'

const ROOT = join(import.meta.dirname, '..', '..')

it('SIGTERM to npm stops the edge that it runs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-'))
  const file = join(folder, 'edge.json')
  const listen = '127.0.0.1:0'
  await writeFile(file, JSON.stringify({ http: { listen }, admin: { listen }, plugins: {} }))
  // A process group of its own, so that an edge that outlives npm does not outlive the test.
  const npm = spawn('npm', ['run', '-s', 'earshot', '--', 'run', file], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const overdue = setTimeout(() => process.kill(-npm.pid!, 'SIGKILL'), 30_000)
  try {
    let last = ''
    for await (const line of createInterface({ input: npm.stdout })) {
      last = JSON.parse(line).msg
      if (last === 'ready') npm.kill('SIGTERM')
    }
    assert.equal(last, 'stopped')
  } finally {
    clearTimeout(overdue)
    await rm(folder, { recursive: true })
  }
})
