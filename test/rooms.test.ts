/** The rules of the house (CONTRIBUTING, ARCHITECTURE), as tests: who may import what, and what a file may be. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

interface Source {
  /** From the root, with forward slashes. */
  readonly path: string
  readonly text: string
}

/** A rule says what is wrong with a file, or nothing. */
type Rule = (source: Source) => string[]

const IMPORT = /(?:^|\n)\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g

/** Everything a file imports: paths from the root for its own, names for the rest. */
function importsOf({ path, text }: Source): string[] {
  return [...text.matchAll(IMPORT)].map((match) => {
    const name = match[1] ?? match[2] ?? ''
    return name.startsWith('.') ? normalize(join(dirname(path), name)).replaceAll('\\', '/') : name
  })
}

/** The folder of a plugin: one level down, two where several plugins share a kind. */
function pluginOf(path: string): string | undefined {
  return /^plugins\/((routing-codec|inference-bridge|steering)\/)?[^/]+(?=\/)/.exec(path)?.[0]
}

const isOurs = (name: string): boolean => name.startsWith('core/') || name.startsWith('plugins/')

const pluginsUseTheDoor: Rule = (source) => {
  const own = pluginOf(source.path)
  if (own === undefined) return []
  return importsOf(source)
    .filter((name) => isOurs(name) || name.startsWith('..'))
    .filter((name) => name !== 'core/index.ts' && !name.startsWith(`${own}/`))
    .map((name) => `a plugin may import core/index.ts and its own folder, not ${name}`)
}

const coreKnowsNoPlugin: Rule = (source) => {
  if (!source.path.startsWith('core/')) return []
  return importsOf(source)
    .filter((name) => name.startsWith('plugins/'))
    .map((name) => `core may not import a plugin: ${name}`)
}

const PURE = /^core\/wire\/|^plugins\/transceiver\/ice\/|(^|\/)pure\//
const SIDE_EFFECT =
  /\b(Date\.now|new Date\(\)|performance\.now|Math\.random|setTimeout|setInterval|setImmediate|queueMicrotask|console\.|process\.|fetch\()/

const pureStaysPure: Rule = (source) => {
  if (!PURE.test(source.path)) return []
  const crypto = source.path.startsWith('core/wire/') || source.path.startsWith('plugins/transceiver/ice/')
  const allowed = (name: string): boolean =>
    name === 'core/index.ts' || PURE.test(name) || (crypto && ['node:crypto', 'node:zlib'].includes(name))
  const imports = importsOf(source)
    .filter((name) => !allowed(name))
    .map((name) => `must stay pure, and imports ${name}`)
  const global = SIDE_EFFECT.exec(withoutComments(source.text))?.[1]
  return global === undefined ? imports : [...imports, `must stay pure, and uses ${global}`]
}

const onlyIn =
  (folder: string, packageName: string): Rule =>
  (source) => {
    if (source.path.startsWith(folder)) return []
    return importsOf(source)
      .filter((name) => name === packageName || name.startsWith(`${packageName}/`))
      .map((name) => `only ${folder} may import ${name}`)
  }

const MAX_LINES = 250

const filesAreShort: Rule = ({ text }) => {
  const lines = text.split('\n').length - 1
  if (lines <= MAX_LINES || /^\/\/ longer than 250 lines because \S/m.test(text)) return []
  return [`has ${lines} lines; split it, or say "// longer than 250 lines because …"`]
}

const onlyPluginsExportDefault: Rule = ({ path, text }) => {
  const plugin = pluginOf(path)
  if (plugin !== undefined && path === `${plugin}/index.ts`) return []
  return /^export (default\b|\{[^}]*\bas default\b)/m.test(text)
    ? ['only the index.ts of a plugin has a default export']
    : []
}

const filesSayWhatTheyPromise: Rule = ({ text }) =>
  /^(#!.*\n)?\/\*\*/.test(text) ? [] : ['must start with a doc comment that says what it promises']

const importsNameTheirExtension: Rule = (source) =>
  [...source.text.matchAll(IMPORT)]
    .map((match) => match[1] ?? match[2] ?? '')
    .filter((name) => name.startsWith('.') && !/\.(ts|js|json)$/.test(name))
    .map((name) => `relative imports end in .ts: ${name}`)

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
}

const RULES: Readonly<Record<string, Rule>> = {
  'plugins import core/index.ts and nothing else of ours': pluginsUseTheDoor,
  'core imports no plugin': coreKnowsNoPlugin,
  'wire, ice and pure rooms have no side effects': pureStaysPure,
  'only the peer folder knows werift': onlyIn('plugins/transceiver/peer/', 'werift'),
  'only core/ffi knows koffi': onlyIn('core/ffi/', 'koffi'),
  'files are short': filesAreShort,
  'only plugins have default exports': onlyPluginsExportDefault,
  'every file says what it promises': filesSayWhatTheyPromise,
  'relative imports end in .ts': importsNameTheirExtension,
}

const root = join(import.meta.dirname, '..')
const sources: Source[] = globSync('{core,plugins}/**/*.ts', { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

for (const [name, rule] of Object.entries(RULES)) {
  test(name, () => {
    assert.ok(sources.length > 0)
    assert.deepEqual(
      sources.flatMap((source) => rule(source).map((fault) => `${source.path}: ${fault}`)),
      [],
    )
  })
}

test('each rule sees the fault it is there for, and lets pass what it should', () => {
  const rows: [Rule, string, string, boolean][] = [
    [pluginsUseTheDoor, 'plugins/relay/index.ts', "import { x } from '../../core/index.ts'", true],
    [pluginsUseTheDoor, 'plugins/relay/pure/flows.ts', "import { x } from '../options.ts'", true],
    [
      pluginsUseTheDoor,
      'plugins/routing-codec/plain/a.ts',
      "import { x } from '../../../core/index.ts'",
      true,
    ],
    [pluginsUseTheDoor, 'plugins/routing-codec/plain/a.ts', "import { x } from '../sealed/seal.ts'", false],
    [pluginsUseTheDoor, 'plugins/relay/index.ts', "import { x } from '../../core/errors.ts'", false],
    [pluginsUseTheDoor, 'plugins/relay/index.ts', "import type {\n  x,\n} from '../demo/index.ts'", false],
    [pluginsUseTheDoor, 'plugins/relay/index.ts', "await import('../demo/index.ts')", false],
    [pluginsUseTheDoor, 'plugins/relay/index.ts', "export * from '../../core/host.ts'", false],
    [coreKnowsNoPlugin, 'core/host.ts', "import '../plugins/relay/index.ts'", false],
    [coreKnowsNoPlugin, 'core/host.ts', "import './plugins.ts'", true],
    [pureStaysPure, 'core/wire/stun.ts', "import { createHmac } from 'node:crypto'", true],
    [pureStaysPure, 'plugins/relay/pure/flows.ts', "import { createHmac } from 'node:crypto'", false],
    [pureStaysPure, 'core/wire/stun.ts', "import { readFileSync } from 'node:fs'", false],
    [pureStaysPure, 'core/wire/stun.ts', "import { log } from '../log.ts'", false],
    [pureStaysPure, 'plugins/transceiver/ice/agent.ts', 'const now = Date.now()', false],
    [pureStaysPure, 'plugins/transceiver/ice/agent.ts', '/** not Date.now */ // nor setTimeout', true],
    [onlyIn('core/ffi/', 'koffi'), 'core/udp/engine.ts', "import koffi from 'koffi'", false],
    [onlyIn('core/ffi/', 'koffi'), 'core/ffi/libc.ts', "import koffi from 'koffi'", true],
    [onlyIn('a/', 'werift'), 'b/x.ts', "import { x } from 'werift/lib/y.js'", false],
    [filesAreShort, 'core/a.ts', '\n'.repeat(251), false],
    [filesAreShort, 'core/a.ts', `${'\n'.repeat(251)}// longer than 250 lines because a table is\n`, true],
    [onlyPluginsExportDefault, 'core/a.ts', 'export default 1', false],
    [onlyPluginsExportDefault, 'plugins/relay/options.ts', 'export default 1', false],
    [onlyPluginsExportDefault, 'plugins/inference-bridge/loopback/index.ts', 'export default 1', true],
    [onlyPluginsExportDefault, 'plugins/relay/index.ts', 'export default 1', true],
    [filesSayWhatTheyPromise, 'core/a.ts', "import 'x'", false],
    [importsNameTheirExtension, 'core/a.ts', "import { x } from './b'", false],
  ]
  for (const [rule, path, text, passes] of rows) {
    assert.equal(rule({ path, text }).length === 0, passes, `${path}: ${text.slice(0, 60)}`)
  }
})
