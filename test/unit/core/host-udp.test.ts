/** An edge on a machine where the engine that was asked for does not work. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..', '..', '..')

test('starts on node:dgram, and says so once', () => {
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(name, context, next) {
        if (name === 'koffi') throw new Error('not built for this machine')
        return next(name, context)
      },
    })
    const { start } = await import('./core/host.ts')
    const { loadedWith, plain, recordedLog } = await import('./test/unit/core/host-fixture.ts')
    const { log, entries } = recordedLog('warn')
    let engine
    const plugin = plain((_options, _services, { udp }) => {
      engine = udp.name
      return {}
    })
    const edge = await start(loadedWith({ plugin }, { node: { udp: 'batched' } }), { log })
    await edge.close()
    console.log(JSON.stringify([engine, entries.filter(({ msg }) => /koffi/.test(msg)).length]))
  `
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  assert.equal(stdout.trim(), '["dgram",1]', stderr)
})
