/** Connections in great number at the public listener, in a process with few descriptors: it lives, and says so. */

import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { it } from 'node:test'
import { eventually } from '../../core/testing/check.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DESCRIPTORS = 200

it('more connections than there are descriptors leave the probes, and cut off what is too much', {
  skip: process.platform === 'win32' && 'no ulimit here',
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-'))
  const file = join(folder, 'edge.json')
  const listen = '127.0.0.1:0'
  await writeFile(file, JSON.stringify({ http: { listen }, admin: { listen }, plugins: {} }))
  const command = `ulimit -n ${DESCRIPTORS}; exec "$0" core/main.ts run "$1"`
  const child = spawn('sh', ['-c', command, process.execPath, file], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit')
  const sockets: Socket[] = []
  try {
    const { port, admin } = await started(child)
    for (let i = 0; i < DESCRIPTORS * 2; i++) sockets.push(connect(port, '127.0.0.1'))
    const { promise: isCut, resolve: onCut } = Promise.withResolvers<void>()
    let closed = 0
    for (const socket of sockets) {
      // Cut off is an end, or a reset.
      socket.on('error', () => {}).resume()
      socket.once('close', () => ++closed === DESCRIPTORS * 1.5 && onCut())
    }
    await isCut
    assert.equal((await fetch(`${admin}/livez`)).status, 200)
    for (const socket of sockets) socket.destroy()
    // It hears of each end in its own time.
    const again = (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/livez`).then(
        ({ ok }) => ok,
        () => false,
      )
    await eventually('the public listener takes connections again', again, 10_000)
  } finally {
    for (const socket of sockets) socket.destroy()
    child.kill()
    await gone
    await rm(folder, { recursive: true })
  }
})

/** Reads the log until it is ready. */
async function started(
  child: ChildProcessByStdio<null, Readable, null>,
): Promise<{ port: number; admin: string }> {
  let port = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, admin } = JSON.parse(line)
    port ||= Number(/^listening on http:\/\/localhost:(\d+)/.exec(msg)?.[1] ?? 0)
    if (msg === 'ready') return { port, admin }
  }
  throw new Error('the edge stopped')
}
