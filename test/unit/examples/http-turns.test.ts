import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { type AudioFrame, EdgeError, type InferenceBridge } from 'earshot'
import { checkInferenceBridge, eventually, FakeCall, pluginContext } from 'earshot/testing'
import { load } from '../../../core/config/load.ts'
import plugin from '../../examples/http-turns/index.ts'

const FORMAT = { pcm16: 16000 } as const

/** A backend, and the bridge to it. */
async function rig(answer: (turn: Buffer, request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    answer(Buffer.concat(parts), request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const { context, spans, close } = pluginContext()
  const options = { url: `http://127.0.0.1:${address.port}/`, key: 'secret', pauseMs: 100 }
  const { bridge } = await plugin.setup(options, {}, context)
  return {
    bridge,
    spans,
    async close() {
      server.closeAllConnections()
      server.close()
      await close()
    },
  }
}

/** 20 ms: speech at a level, or silence. */
function frame(level: number): AudioFrame {
  return { data: new Uint8Array(new Int16Array(320).fill(level).buffer), durationMs: 20 }
}

const frames = (count: number, level: number): AudioFrame[] =>
  Array.from({ length: count }, () => frame(level))

/** A call with its conversation under way. */
function opened(bridge: InferenceBridge, options = {}) {
  const call = new FakeCall(FORMAT, options)
  return { call, done: bridge.open(call) }
}

checkInferenceBridge('http-turns', () => rig((turn, _request, response) => response.end(turn)), {
  turns: {
    ask: (call) => call.speak(...frames(100, 9000), ...frames(5, 0)),
    interrupt: (call) => call.speak(...frames(1, 9000)),
  },
  aheadMs: 20,
})

test('a turn is what was said, up to the pause; its answer is played', async () => {
  const turns: Buffer[] = []
  const { bridge, close } = await rig((turn, request, response) => {
    assert.equal(request.headers.authorization, 'Bearer secret')
    turns.push(turn)
    response.end(Buffer.alloc(1000, 7))
  })
  const { call, done } = opened(bridge)
  call.speak(...frames(3, 0), ...frames(10, 9000), ...frames(5, 0))
  await eventually('the answer was played', () => call.played.length === 2)
  assert.equal(turns[0]?.length, 15 * 640)
  assert.equal(Buffer.concat(call.played.map(({ data }) => data)).compare(Buffer.alloc(1000, 7)), 0)
  assert.equal(call.sent[0]?.type, 'answer.started')
  call.close()
  await done
  assert.deepEqual(call.breaches, [])
  await close()
})

test('who speaks while an answer is played interrupts it, and so does an event', async () => {
  for (const by of ['speech', 'event']) {
    const { bridge, close } = await rig((_turn, _request, response) => response.end(Buffer.alloc(320_000)))
    const { call, done } = opened(bridge, { hold: true })
    call.speak(...frames(1, 9000), ...frames(5, 0))
    await eventually('the answer is waiting to be heard', () => call.queuedMs >= 200)
    if (by === 'speech') call.speak(...frames(1, 9000))
    else call.say({ type: 'response.cancel' })
    await eventually('the client was told', () => call.sent.at(-1)?.type === 'answer.interrupted')
    assert.equal(call.sent.at(-1)?.answer, call.sent[0]?.answer)
    assert.equal(call.queuedMs, 0)
    call.close()
    await done
    await close()
  }
})

test('a backend that refuses or is away ends the call with bridge_failed', async () => {
  const refusing = await rig((_turn, _request, response) => response.writeHead(500).end())
  const away = await rig(() => {})
  await away.close()
  for (const { bridge } of [refusing, away]) {
    const { call, done } = opened(bridge)
    call.speak(...frames(1, 9000), ...frames(5, 0))
    await assert.rejects(done, (error) => error instanceof EdgeError && error.code === 'bridge_failed')
    call.close()
  }
  await refusing.close()
})

const ROOT = join(import.meta.dirname, '../../..')
const EXAMPLE = join(ROOT, 'test/examples/http-turns')
const GUIDE = readFileSync(join(ROOT, 'docs/guides/write-a-bridge.md'), 'utf8')

function shown(language: string): string[] {
  return [...GUIDE.matchAll(/```(\w*)\n([\s\S]*?)```/g)].flatMap(([, its, code = '']) =>
    its === language ? [code] : [],
  )
}

test('the guide shows the example as it is', () => {
  const flush = (code: string): string => code.replace(/^ +/gm, '')
  const files = ['index.ts', 'turns.ts'].map((name) => readFileSync(join(EXAMPLE, name), 'utf8')).join('')
  assert.ok(shown('ts').length >= 3)
  for (const code of shown('ts')) {
    assert.ok(flush(files).includes(flush(code)), `not in the example:\n${code}`)
  }
})

test('the guide’s config is right in a folder of an author’s own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'earshot-bridge-'))
  cpSync(EXAMPLE, folder, { recursive: true })
  assert.deepEqual(
    JSON.parse(readFileSync(join(folder, 'edge.config.json'), 'utf8')),
    JSON.parse(shown('json')[0] ?? ''),
  )
  try {
    const { order } = await load(join(folder, 'edge.config.json'), {})
    assert.equal(order.find(({ id }) => id === 'bridge')?.plugin.name, 'http-turns')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the guide’s test passes as it is shown', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'earshot-bridge-'))
  cpSync(EXAMPLE, folder, { recursive: true })
  const backend = createServer((request, response) => void request.pipe(response)).listen(0, '127.0.0.1')
  try {
    await once(backend, 'listening')
    const address = backend.address()
    assert.ok(address !== null && typeof address === 'object')
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(ROOT, join(folder, 'node_modules', 'earshot'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const code = shown('js')[0] ?? ''
    writeFileSync(join(folder, 'bridge.test.js'), code.replace(':7000/', `:${address.port}/`))
    const { NODE_TEST_CONTEXT: _context, ...env } = process.env
    const { stdout } = await promisify(execFile)(process.execPath, ['--test'], { cwd: folder, env })
    assert.match(stdout, /fail 0\b/)
    assert.match(stdout, /pass [1-9]/)
  } finally {
    backend.closeAllConnections()
    backend.close()
    rmSync(folder, { recursive: true })
  }
})
