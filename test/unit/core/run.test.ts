/** What signals do to `earshot run`: while it starts, while it runs, while it drains. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { EdgeProcess } from '../../peers/edge-processes.ts'
import { pluginFolder } from './config/plugin-fixtures.ts'

const { folder, remove } = pluginFolder({
  'plugins/slow/index.ts': `
    import { definePlugin, Type } from 'earshot'
    export default definePlugin({ name: 'slow', api: 1, options: Type.Object({}), async setup(_options, _services, context) {
      context.onClose(() => context.log.info('slow closes'))
      context.log.info('slow begins')
      await new Promise((done) => context.signal.addEventListener('abort', done))
      return {}
    } })`,
  'plugins/busy/index.ts': `
    import { definePlugin, Type } from 'earshot'
    export default definePlugin({ name: 'busy', api: 1, options: Type.Object({}), setup(_options, _services, context) {
      context.onDrain((deadline) => new Promise((done) => {
        context.log.info('busy drains')
        deadline.addEventListener('abort', done)
      }))
      context.signal.addEventListener('abort', () => process.stderr.write('busy is aborted'))
      return {}
    } })`,
})
after(remove)

/** A process with one plugin, which need not get ready. */
function run(plugin: string, drainSeconds: number): EdgeProcess {
  const file = join(folder, `${plugin}-${drainSeconds}.json`)
  const listen = { listen: '127.0.0.1:0' }
  const plugins = { [plugin]: { use: `./plugins/${plugin}` } }
  writeFileSync(file, JSON.stringify({ http: listen, admin: listen, drainSeconds, plugins }))
  return new EdgeProcess(file, {})
}

test('SIGTERM during the start gives it up: what was set up is closed, and the exit code is 0', async () => {
  await using edge = run('slow', 600)
  await edge.logged('slow begins', 20_000)
  edge.signal('SIGTERM')
  assert.equal(await edge.exited, 0)
  const said = edge.log.map(({ msg }) => msg)
  assert.deepEqual(said, ['slow begins', 'slow closes'])
  assert.deepEqual(edge.printed, [])
})

test('the same signal twice within half a second is one: launchers and terminals pass theirs on', async () => {
  await using edge = run('busy', 1)
  await edge.ready()
  edge.signal('SIGTERM')
  await edge.logged('busy drains')
  edge.signal('SIGTERM')
  assert.equal(await edge.exited, 0)
  assert.ok(edge.log.some(({ msg }) => msg === 'drain ran out of time'))
})

test('a second one after that ends it at once, and plugins are told', async () => {
  await using edge = run('busy', 600)
  await edge.ready()
  edge.signal('SIGTERM')
  await edge.logged('busy drains')
  await delay(600)
  edge.signal('SIGTERM')
  assert.equal(await edge.exited, 143)
  assert.deepEqual(edge.printed, ['busy is aborted'])
})
