/**
 * The package as operators get it: packed from a copy of the tree, unpacked beside its dependencies as npm would lay it
 * out, and used by a config and a bridge of their own. No registry is asked.
 */

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { postTo } from '../peers/signaling.ts'
import { startParrot, takeTurn } from './support/turn-call.ts'

const ROOT = join(import.meta.dirname, '../..')
const NOT_COPIED = ['.git', 'node_modules', 'dist', 'test']
const work = mkdtempSync(join(tmpdir(), 'earshot-packed-'))
const tree = join(work, 'tree')
const app = join(work, 'app')
const earshot = join(app, 'node_modules/earshot')
const MANIFEST = readFileSync(join(ROOT, 'package.json'), 'utf8')

const BRIDGE = `
import { definePlugin, InferenceBridge, Type } from 'earshot'
export default definePlugin({
  name: 'mine',
  api: 1,
  options: Type.Object({ word: Type.String() }),
  provides: { bridge: InferenceBridge },
  setup: (options) => ({
    bridge: {
      audio: { pcm16: 16000 },
      async open(call) {
        const hear = async () => {
          for await (const frame of call.audio) await call.play(frame)
        }
        const answer = async () => {
          for await (const event of call.events) call.send({ type: options.word, event })
        }
        await Promise.all([hear(), answer()])
      },
    },
  }),
})
`

const BRIDGE_TEST = `
import { checkInferenceBridge, pluginContext } from 'earshot/testing'
import plugin from './bridge.ts'
checkInferenceBridge('mine', async () => plugin.setup({ word: 'hello' }, {}, pluginContext().context))
`

const CONFIG = {
  http: { listen: '127.0.0.1:0' },
  admin: { listen: '127.0.0.1:0' },
  plugins: {
    codec: { use: 'earshot/plugins/routing-codec/sealed' },
    recovery: { use: 'earshot/plugins/memory-recovery' },
    relay: {
      use: 'earshot/plugins/relay',
      options: { listen: ['127.0.0.1:0'], allow: { ports: '1024-65535' } },
    },
    bridge: { use: './bridge.ts', options: { word: 'hello' } },
    transceiver: { use: 'earshot/plugins/transceiver', options: { listen: '127.0.0.1:0' } },
    demo: { use: 'earshot/plugins/demo' },
  },
}

/** The example bridge as its author would put it on a registry: what the guide shows beside its sources. */
const authored = join(work, 'http-turns')
const GUIDE = readFileSync(join(ROOT, 'docs/guides/write-a-bridge.md'), 'utf8')

/** The guide's JSON with that key. */
function fromGuide(key: string): string {
  const shown = [...GUIDE.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => json)
  const found = shown.find((json) => key in JSON.parse(json))
  assert.ok(found, `the guide shows no JSON with "${key}"`)
  return found
}

function run(command: string, args: readonly string[], cwd: string): string {
  // A test runner inside a test runner would report to the outer one.
  const { NODE_TEST_CONTEXT: _outer, ...outside } = process.env
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${outside.PATH}`
  const env = { ...outside, PATH, npm_config_offline: 'true', npm_config_update_notifier: 'false' }
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  assert.equal(error, undefined)
  assert.equal(status, 0, `${command} ${args.join(' ')}:\n${stdout}${stderr}`)
  return stdout
}

const command = (...args: string[]): string =>
  run(process.execPath, [join(earshot, 'bin/earshot.js'), ...args], app)

before(() => {
  cpSync(ROOT, tree, { recursive: true, filter: (path) => !NOT_COPIED.includes(relative(ROOT, path)) })
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  run('npm', ['pack', '--pack-destination', work], tree)
  mkdirSync(earshot, { recursive: true })
  const tarball = readdirSync(work).find((name) => name.endsWith('.tgz'))
  run('tar', ['-xzf', join(work, String(tarball)), '-C', earshot, '--strip-components=1'], work)
  for (const name of dependencies()) {
    const link = join(app, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), link)
  }
  writeFileSync(join(app, 'bridge.ts'), BRIDGE)
  writeFileSync(join(app, 'bridge.test.ts'), BRIDGE_TEST)
  writeFileSync(join(app, 'edge.config.json'), JSON.stringify(CONFIG))
  writeFileSync(join(app, 'package.json'), '{ "type": "module" }')
})

after(() => rmSync(work, { recursive: true, force: true }))

/** What the package depends on, and the types that a TypeScript project has of its own. */
function dependencies(): string[] {
  return [...Object.keys(JSON.parse(MANIFEST).dependencies), '@types/node']
}

test('packing leaves the tree as it was', () => {
  assert.equal(readFileSync(join(tree, 'package.json'), 'utf8'), MANIFEST)
  assert.ok(!readdirSync(tree).includes('package.json.packing'))
})

test('the package holds what was built and no sources', () => {
  assert.deepEqual(readdirSync(earshot).sort(), [
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'bin',
    'dist',
    'edge.schema.json',
    'package.json',
  ])
  const { version, exports, scripts, devDependencies } = JSON.parse(
    readFileSync(join(earshot, 'package.json'), 'utf8'),
  )
  assert.equal(command('version'), `${version}\n`)
  assert.equal(exports['.'], './dist/core/index.js')
  assert.deepEqual([scripts, devDependencies], [undefined, undefined])
})

test('earshot check takes a config that names our plugins and a bridge in TypeScript', () => {
  assert.match(command('check', 'edge.config.json'), /^edge\.config\.json is valid: 6 plugins/)
})

test('the schema is the one that the clone has', () => {
  assert.equal(command('schema'), readFileSync(join(earshot, 'edge.schema.json'), 'utf8'))
})

/** Runs the packed edge with a config until `use` is done with it; it must stop when it is told to. */
async function whileRunning(config: string, use: (url: string) => Promise<void>): Promise<void> {
  const edge = spawn(process.execPath, [join(earshot, 'bin/earshot.js'), 'run', config], {
    cwd: app,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(edge, 'exit')
  try {
    const opened = Promise.withResolvers<string>()
    exited.then(([code]) => opened.reject(new Error(`it ended with ${code}`)))
    createInterface(edge.stdout).on('line', (line) => {
      const url = /^open (\S+)/.exec(JSON.parse(line).msg)?.[1]
      if (url !== undefined) opened.resolve(url)
    })
    await use(await opened.promise)
    edge.kill('SIGTERM')
    assert.deepEqual(await exited, [0, null])
  } finally {
    edge.kill('SIGKILL')
  }
}

test('earshot run starts, serves the page and stops', () =>
  whileRunning('edge.config.json', async (url) => {
    const page = await (await fetch(url)).text()
    const script = /src="([^"]+\.js)"/.exec(page)?.[1]
    assert.equal((await fetch(new URL(String(script), url))).status, 200)
  }))

test('a bridge that is a package of its own is built, packed, named in a config, and takes a call', async () => {
  const installed = join(app, 'node_modules/earshot-http-turns')
  cpSync(join(ROOT, 'test/examples/http-turns'), authored, { recursive: true })
  writeFileSync(join(authored, 'package.json'), fromGuide('peerDependencies'))
  writeFileSync(join(authored, 'tsconfig.json'), fromGuide('compilerOptions'))
  symlinkSync(join(app, 'node_modules'), join(authored, 'node_modules'))
  run('npm', ['pack', '--pack-destination', authored], authored)
  const tarball = readdirSync(authored).find((name) => name.endsWith('.tgz'))
  mkdirSync(installed)
  run('tar', ['-xzf', join(authored, String(tarball)), '-C', installed, '--strip-components=1'], work)
  assert.deepEqual(readdirSync(join(installed, 'dist')).sort(), ['index.js', 'turns.js'])
  using backend = await startParrot()
  const options = { url: backend.url, pauseMs: 300 }
  const plugins = { ...CONFIG.plugins, bridge: { use: 'earshot-http-turns', options } }
  writeFileSync(join(app, 'turns.config.json'), JSON.stringify({ ...CONFIG, plugins }))
  assert.match(command('check', 'turns.config.json'), /^turns\.config\.json is valid: 6 plugins/)
  await whileRunning('turns.config.json', (url) => takeTurn(postTo(url)))
  assert.deepEqual(backend.turns, ['no key'])
})

test('a bridge of an operator has its types, and the kit to test it with', () => {
  const strict = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--allowImportingTsExtensions',
  ]
  run(join(ROOT, 'node_modules/.bin/tsc'), [...strict, 'bridge.ts', 'bridge.test.ts'], app)
  assert.match(run(process.execPath, ['--test', 'bridge.test.ts'], app), /leaves a call alone that has ended/)
})
