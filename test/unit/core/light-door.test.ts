/** Plugins' door is light: a thread that forwards packets comes up at once, and so does a start that opens sockets first. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const PROBE = `
import { registerHooks } from 'node:module'
const packages = []
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    if (found.url.includes('/node_modules/')) packages.push(specifier)
    return found
  },
})
await import(process.argv[1])
console.log(JSON.stringify({ packages, undici: process.moduleLoadList.some((name) => /undici\\/undici$/.test(name)) }))
`

for (const door of [
  'core/index.ts',
  'plugins/relay/threads/relay-thread.ts',
  'plugins/routing-codec/sealed/codec.ts',
]) {
  test(`${door} loads no package, and of Node neither fetch nor HTTP’s web parts`, () => {
    const url = new URL(`../../../${door}`, import.meta.url).href
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', PROBE, url], {
      encoding: 'utf8',
    })
    assert.equal(stderr, '')
    assert.deepEqual(JSON.parse(stdout), { packages: [], undici: false })
  })
}
