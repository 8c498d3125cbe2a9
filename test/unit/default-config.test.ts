import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { load } from '../../core/config/load.ts'

const root = join(import.meta.dirname, '../..')
const DEFAULT = join(root, 'edge.config.json')
const LOOPBACK = join(root, 'deploy/roles/loopback.json')

interface Written {
  plugins: Record<string, { use: string }>
}

/** Each plugin's id and file, the latter as seen from the top of the tree. */
function plugins(file: string): [string, string][] {
  const { plugins }: Written = JSON.parse(readFileSync(file, 'utf8'))
  return Object.entries(plugins).map(([id, { use }]) => [id, use.replace(/^(?:\.\.?\/)+/, '')])
}

test('the default config is both roles, memory recovery, the parrot and the demo, and asks for nothing', async () => {
  const { node, config } = await load(DEFAULT, {})
  assert.equal(config.http.listen, '127.0.0.1:8080')
  assert.equal(node.reachable, false)
  assert.equal(node.advertise, undefined)
  assert.deepEqual(
    plugins(DEFAULT).map(([, use]) => use.replace(/^plugins\/|\/index\.ts$/g, '')),
    ['routing-codec/sealed', 'memory-recovery', 'relay', 'inference-bridge/parrot', 'transceiver', 'demo'],
  )
})

test('deploy/roles/loopback.json is the same with the loopback bridge, and ports that a test may choose', async () => {
  const same = plugins(DEFAULT).map(([id, use]) => [id, use.replace('parrot', 'loopback')])
  assert.deepEqual(plugins(LOOPBACK), same)
  const { config } = await load(LOOPBACK, { EARSHOT_HTTP_PORT: '18080' })
  assert.equal(config.http.listen, '127.0.0.1:18080')
})
