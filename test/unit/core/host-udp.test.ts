/** An edge on a machine where the engine that was asked for does not work. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printedWithoutKoffi } from './without-koffi.ts'

test('starts on node:dgram, and says so once', () => {
  const script = `
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
  assert.equal(printedWithoutKoffi(script), '["dgram",1]')
})
