import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { callIds } from '../../../core/call-ids.ts'
import { pluginFolder } from './config/plugin-fixtures.ts'

const MAIN = join(import.meta.dirname, '../../../core/main.ts')

const { folder, remove } = pluginFolder({
  'plugins/stubborn/index.ts': `
    import { definePlugin, Type } from 'earshot'
    export default definePlugin({ name: 'stubborn', api: 1, options: Type.Object({}), setup(_options, _services, context) {
      context.onDrain((deadline) => new Promise((done) => {
        context.log.info('draining')
        deadline.addEventListener('abort', () => done(undefined))
      }))
      context.onClose(() => context.log.info('closing'))
      return {}
    } })`,
  'plugins/faulty/index.ts': `
    import { definePlugin, Type } from 'earshot'
    export default definePlugin({ name: 'faulty', api: 1, options: Type.Object({}), setup(_options, _services, { http }) {
      http.get('/throw', async () => { setImmediate(() => { throw new Error('thrown later') }); return 'ok' })
      http.get('/reject', async () => { Promise.reject(new Error('rejected later')); return 'ok' })
      return {}
    } })`,
  'plugins/leaky/index.ts': `
    import { definePlugin, Type } from 'earshot'
    export default definePlugin({ name: 'leaky', api: 1, options: Type.Object({ url: Type.String({ writeOnly: true }) }),
      setup({ url }, _services, { log }) {
        log.info({ url }, 'connecting to ' + url)
        throw new Error('no connection to ' + url)
      } })`,
})
const children = new Set<ChildProcess>()
after(() => {
  // A test that failed has left its edge running, and this file would wait for it.
  for (const child of children) child.kill('SIGKILL')
  remove()
})

function config(plugins: object, root: object = {}): string {
  const file = join(folder, 'edge.config.json')
  const listeners = { http: { listen: '127.0.0.1:0' }, admin: { listen: '127.0.0.1:0' } }
  writeFileSync(file, JSON.stringify({ ...listeners, ...root, plugins }))
  return file
}

function earshot(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  return child
}

/** Runs to the end. */
async function outcome(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  let out = ''
  let err = ''
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  const [code] = await once(child, 'close')
  return { code, out, err }
}

/** Log entries as they come; `until` waits for one and keeps those that nobody waited for. */
function logOf(child: ChildProcess) {
  const seen: Record<string, unknown>[] = []
  const waiting: { msg: string; found(entry: Record<string, unknown>): void }[] = []
  assert.ok(child.stdout)
  createInterface(child.stdout).on('line', (line) => {
    const entry = JSON.parse(line)
    seen.push(entry)
    for (const one of waiting) if (one.msg === entry.msg) one.found(entry)
  })
  const until = (msg: string): Promise<Record<string, unknown>> => {
    const already = seen.find((entry) => entry.msg === msg)
    if (already) return Promise.resolve(already)
    return new Promise((found) => waiting.push({ msg, found }))
  }
  return { seen, until }
}

test('wrong usage is exit code 64, with the nearest command', async () => {
  const rows: [string[], RegExp][] = [
    [['chekc', 'x'], /there is no command "chekc"; did you mean "check"\?/],
    [['frobnicate'], /see: earshot help/],
    [['constructor'], /there is no command "constructor"/],
    [[], /earshot run FILE/],
    [['run'], /usage: earshot run FILE/],
    [['check', 'a', 'b'], /usage: earshot check FILE/],
    [['schema', '--rwite'], /usage: earshot schema/],
  ]
  for (const [args, message] of rows) {
    const { code, out, err } = await outcome(earshot(...args))
    assert.equal(code, 64, args.join(' '))
    assert.match(err, message)
    assert.equal(out, '')
  }
})

test('version and help are exit code 0 on stdout', async () => {
  assert.match((await outcome(earshot('version'))).out, /^\d+\.\d+\.\d+\n$/)
  assert.match((await outcome(earshot('--help'))).out, /earshot check FILE/)
})

test('a call’s trace id follows from its session', async () => {
  const { code, out } = await outcome(earshot('trace', '0102030405060708'))
  const { traceId } = callIds(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8))
  assert.deepEqual([code, out], [0, `${traceId}\n`])
  for (const wrong of [[], ['rtc_x'], ['01020304050607'], ['0102030405060708', 'x']])
    assert.equal((await outcome(earshot('trace', ...wrong))).code, 64, wrong.join(' '))
})

test('check says what is valid, in which order, and opens nothing', async () => {
  const file = config({
    x: { use: './plugins/taker' },
    g: { use: './plugins/giver' },
    l: leaky('not-printed'),
  })
  const { code, out, err } = await outcome(earshot('check', file))
  assert.equal(err, '')
  assert.equal(out, `${file} is valid: 3 plugins, set up in this order: g, x, l\n`)
  assert.equal(code, 0)
})

test('a wrong config is exit code 78 for check and for run', async () => {
  const file = config({ x: { use: './plugins/taker' } })
  for (const command of ['check', 'run']) {
    const { code, out, err } = await outcome(earshot(command, file))
    assert.equal(code, 78)
    assert.equal(out, '')
    assert.match(err, /^.*edge\.config\.json:1:\d+ \/plugins\/x\n {4}needs thing/)
  }
})

test('a schema is written where one stands, and never without a plugin that does not load', async () => {
  const copy = join(folder, 'installation')
  cpSync(join(MAIN, '..'), join(copy, 'core'), { recursive: true })
  cpSync(join(MAIN, '../../package.json'), join(copy, 'package.json'))
  symlinkSync(join(MAIN, '../../node_modules'), join(copy, 'node_modules'))
  cpSync(join(folder, 'plugins/phone'), join(copy, 'plugins/phone'), { recursive: true })
  const write = () =>
    spawn(process.execPath, [join(copy, 'core/main.ts'), 'schema', '--write'], { cwd: folder })
  assert.equal((await outcome(write())).out, `${join(folder, 'edge.schema.json')} written\n`)
  assert.match(readFileSync(join(folder, 'edge.schema.json'), 'utf8'), /where calls come in/)

  cpSync(join(folder, 'plugins/broken'), join(copy, 'plugins/broken'), { recursive: true })
  const { code, out, err } = await outcome(write())
  assert.equal(code, 1)
  assert.match(
    err,
    /^cannot load \S+plugins\/broken\/index\.ts: SyntaxError: .* \(plugins\/broken\/index\.ts:1\)\n$/,
  )
  assert.equal(out, '')
})

const leaky = (url: string) => ({ use: './plugins/leaky/index.ts', options: { url } })

test('a plugin that prints its secret prints nothing of it, neither in the log nor in the error', async () => {
  const { code, out, err } = await outcome(earshot('run', config({ leaky: leaky('redis://u:hunter2@h') })))
  assert.equal(code, 1)
  assert.match(out, /"msg":"connecting to \[redacted\]"/)
  assert.equal(err, 'plugin "leaky" failed in setup: no connection to [redacted]\n')
})

test('a port in use is exit code 1, and says what to do', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const bound = taken.address()
  assert.ok(bound && typeof bound === 'object')
  const file = config({}, { admin: { listen: `127.0.0.1:${bound.port}` } })
  const { code, err } = await outcome(earshot('run', file))
  assert.equal(code, 1)
  assert.match(
    err,
    /^admin\.listen: 127\.0\.0\.1:\d+ is in use already; stop what listens there, or set admin\.listen/,
  )
  taken.close()
})

test('SIGTERM drains, closes and ends with code 0', async () => {
  const child = earshot('run', config({ s: { use: './plugins/stubborn' } }, { drainSeconds: 0 }))
  const ended = once(child, 'exit')
  const { until, seen } = logOf(child)
  await until('ready')
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
  await until('stopped')
  const said = seen.map(({ msg }) => msg)
  assert.ok(said.indexOf('draining') < said.indexOf('closing'))
})

test('a second signal stops at once, with 128 + its number', async () => {
  const child = earshot('run', config({ s: { use: './plugins/stubborn' } }, { drainSeconds: 600 }))
  const ended = once(child, 'exit')
  const { until } = logOf(child)
  await until('ready')
  child.kill('SIGTERM')
  await until('draining')
  child.kill('SIGINT')
  assert.deepEqual(await ended, [130, null])
})

test('once ready, what nobody caught is logged and counted, and the edge goes on', async () => {
  const child = earshot('run', config({ f: { use: './plugins/faulty' } }, { drainSeconds: 0 }))
  const ended = once(child, 'exit')
  const { until, seen } = logOf(child)
  const { admin } = await until('ready')
  const url = seen.map(({ msg }) => /^listening on (.*)$/.exec(String(msg))?.[1]).find(Boolean)
  for (const path of ['throw', 'reject']) await (await fetch(`${url}${path}`)).text()
  await until('an error that nobody caught')
  const counted = async (): Promise<string> => (await fetch(`${admin}/metrics`)).text()
  let metrics = await counted()
  for (let i = 0; i < 100 && !/kind="rejection"/.test(metrics); i++) metrics = await counted()
  assert.match(metrics, /^earshot_faults_total\{kind="exception",.*\} 1$/m)
  assert.match(metrics, /^earshot_faults_total\{kind="rejection",.*\} 1$/m)
  assert.equal((await fetch(`${url}readyz`)).status, 200)
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
})
