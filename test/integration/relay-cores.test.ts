/** Workers of one relay: they share its port, each stays on a processor of its own, and each client stays with one. */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { Stage } from './support/attack-stage.ts'
import { THREADS } from './support/relay-ways.ts'
import type { Stranger } from './support/stranger.ts'

const CLIENTS = 24
const way = THREADS.find(({ options }) => options.workers === 2)!

/** The processors of each thread of this process that may not use all of them. */
function pinned(): string[] {
  const own = (path: string): string =>
    /^Cpus_allowed_list:\s+(\S+)$/m.exec(readFileSync(path, 'utf8'))?.[1] ?? ''
  const all = own('/proc/self/status')
  return readdirSync('/proc/self/task')
    .map((task) => own(`/proc/self/task/${task}/status`))
    .filter((cpus) => cpus !== all)
    .sort()
}

describe('two workers', way.needs, () => {
  let stage: Stage
  const clients: Stranger[] = []
  before(async () => {
    stage = await Stage.open(way)
    for (let n = 0; n < CLIENTS; n++) clients.push(await stage.client())
  })
  after(() => stage.close())

  /** The internal socket by which each client's media came: every worker has its own. */
  async function workersOf(): Promise<number[]> {
    const [one] = stage.transceivers
    const ports: number[] = []
    for (const client of clients) {
      const media = stage.media()
      client.send(media)
      ports.push((await one.got(media)).via.port)
    }
    return ports
  }

  test('share one port by SO_REUSEPORT, and each has clients', async () => {
    const { workers } = stage.relay
    assert.equal(new Set(workers.map(({ sockets }) => String(sockets.publics[0]!.local))).size, 1)
    const [one] = stage.transceivers
    // No more than eight clients have a ufrag.
    for (const client of clients) await stage.connect(client, one, stage.ufrag(one.local))
    assert.ok(workers.every(({ state }) => state.flows.confirmed > 0))
    assert.equal(new Set(await workersOf()).size, 2)
  })

  test('a flow stays with its worker, also when the worker’s thread is replaced', async () => {
    const home = await workersOf()
    for (let n = 0; n < 5; n++) assert.deepEqual(await workersOf(), home)
    const { thread } = stage.relay.workers[0]!
    await thread!.kill()
    await eventually('it is replaced', () => thread!.restarts === 1, 10_000)
    assert.deepEqual(await workersOf(), home)
  })

  test('stay on a processor each, their own', async (t) => {
    if (way.udp.threads!.cpus.length < 2) return t.skip('this machine has one processor')
    await eventually('two threads are pinned', () => pinned().length === 2, 5_000)
    assert.equal(new Set(pinned()).size, 2)
    assert.ok(pinned().every((cpus) => /^\d+$/.test(cpus)))
  })
})
