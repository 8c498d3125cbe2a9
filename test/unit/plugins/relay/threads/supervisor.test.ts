/** The keeper of a thread: when one counts as stuck, and what becomes of one that cannot be started. */

import assert from 'node:assert/strict'
import { beforeEach, type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { eventually } from '../../../../../core/testing/check.ts'
import { pluginContext } from '../../../../../core/testing/plugin-context.ts'
import { CONTROL_BYTES, LoopControl } from '../../../../../core/udp/loop-control.ts'
import { Supervisor } from '../../../../../plugins/relay/threads/supervisor.ts'

const LOOK_MS = 250
const STUCK_MS = 3_000
const START_MS = 8_000
const RUNS = 'parentPort.postMessage({ type: "runs" });'
const STAYS = 'parentPort.on("message", () => {})'

/** What the next threads do, in this order; the last one's is the rest's too. Undefined: there is no room for it. */
let scripts: (string | undefined)[]
let spawned: number
let words: LoopControl
let context: ReturnType<typeof pluginContext>

beforeEach(() => {
  spawned = 0
  words = new LoopControl(new SharedArrayBuffer(CONTROL_BYTES))
  context = pluginContext()
})

/** One whose first thread runs; its looks are in the test's hands. */
async function supervised(t: TestContext): Promise<Supervisor> {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const shared = { words: new SharedArrayBuffer(0), wakeFd: -1 }
  const control = { words, shared, wake() {}, close() {} }
  const supervisor = new Supervisor('a thread', control, context.context.log, {
    spawn() {
      const script = scripts[Math.min(spawned++, scripts.length - 1)]
      if (script === undefined) throw new Error('EAGAIN')
      return new Worker(`const { parentPort } = require('node:worker_threads'); ${script}`, { eval: true })
    },
    onReport() {},
    onGone() {},
  })
  t.after(async () => {
    t.mock.timers.reset()
    await supervisor.close()
  })
  await supervisor.start()
  return supervisor
}

const said = (text: RegExp): number => context.logs.filter(({ msg }) => text.test(String(msg))).length

/** So many looks at a thread that does not beat. */
function wait(t: TestContext, ms: number): void {
  for (let at = 0; at < ms; at += LOOK_MS) t.mock.timers.tick(LOOK_MS)
}

test('a thread that runs and does not beat for 3 s is ended, and replaced', async (t) => {
  scripts = [RUNS + STAYS]
  const supervisor = await supervised(t)
  wait(t, STUCK_MS)
  assert.equal(said(/stands still/), 0)
  wait(t, LOOK_MS)
  assert.equal(said(/stands still/), 1)
  await eventually('it is replaced', () => supervisor.restarts === 1 && spawned === 2)
})

test('a thread that takes long to start, as with a large table to repair, is left in peace', async (t) => {
  scripts = [RUNS + STAYS, STAYS]
  const supervisor = await supervised(t)
  await supervisor.kill()
  await eventually('it is replaced', () => spawned === 2)
  wait(t, START_MS)
  assert.equal(said(/stands still/), 0)
  wait(t, LOOK_MS)
  assert.equal(said(/stands still/), 1, 'but not for ever')
})

test('a successor for which there is no room is tried again', async (t) => {
  scripts = [RUNS + STAYS, undefined, undefined, RUNS + STAYS]
  const supervisor = await supervised(t)
  await supervisor.kill()
  await eventually('it is tried', () => spawned === 2)
  await eventually('there is room', () => spawned === 4)
  assert.equal(said(/cannot be started/), 2)
})
