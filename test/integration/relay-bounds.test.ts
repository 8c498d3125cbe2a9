/** What a ufrag may use up at a relay with two workers: as much as at one, whichever of them its packets come to. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { CLIENTS_PER_UFRAG, UNCONFIRMED_PER_SECOND } from '../../plugins/relay/pure/limits.ts'
import { Stage } from './support/attack-stage.ts'
import { THREADS } from './support/relay-ways.ts'
import type { Stranger } from './support/stranger.ts'

const EACH = 5
const TRIES = 10
/** A thread that was replaced takes its time to start where others work too. */
const PATIENCE_MS = 20_000
const way = THREADS.find(({ options }) => options.workers === 2)!

describe('a ufrag at a relay with two workers', way.needs, () => {
  let stage: Stage
  /** Clients of the one and of the other. */
  let sides: readonly [Stranger[], Stranger[]]

  before(async () => {
    stage = await Stage.open(way)
    sides = await sorted()
  })
  after(() => stage?.close())

  /** The kernel gives a client to a worker by its address; what it sends comes by that worker's internal socket. */
  async function sorted(): Promise<[Stranger[], Stranger[]]> {
    const [, two] = stage.transceivers
    const first = stage.relay.workers[0]!.sockets.upstream.local
    const found: [Stranger[], Stranger[]] = [[], []]
    while (found.some(({ length }) => length < EACH)) {
      const client = await stage.client()
      const { via } = await stage.connect(client, two, stage.ufrag(two.local))
      found[first.equals(via) ? 0 : 1].push(client)
    }
    return found
  }

  /** One of each side, which never has a live route to the first transceiver. */
  const strangers = (): Stranger[] => sides.map((side) => side[EACH - 1]!)

  const drops = (): number => stage.drops().get('ufrag_rate')! + stage.drops().get('ufrag_addresses')!

  /** Each client sends so many checks in turns; returns how many were forwarded when all were, or were dropped. */
  async function forwarded(clients: readonly Stranger[], ufrag: string, count: number): Promise<number> {
    const [{ frames }] = stage.transceivers
    const sent = count * clients.length
    const dropped = drops()
    frames.length = 0
    for (let n = 0; n < sent; n++) clients[n % clients.length]!.send(stage.check(ufrag))
    await eventually('all are decided on', () => frames.length + drops() - dropped === sent, PATIENCE_MS)
    return frames.length
  }

  /** What was forwarded of each of these, all within a second; it is tried with one ufrag after the other. */
  async function inOneSecond(of: (ufrag: string) => AsyncIterable<number>): Promise<number[]> {
    for (let tries = 0; tries < TRIES; tries++) {
      const began = performance.now()
      const counts = await Array.fromAsync(of(stage.ufrag(stage.transceivers[0].local)))
      // A ufrag's second begins with its first packet.
      if (performance.now() - began < 1_000) return counts
    }
    throw new Error(`this machine did not send that within a second, ${TRIES} times`)
  }

  test('has eight client addresses: the ninth is refused by both, also by one that was replaced', async () => {
    const [one] = stage.transceivers
    const ufrag = stage.ufrag(one.local)
    const [left, right] = sides
    const clients = [...left.slice(0, EACH - 1), ...right.slice(0, EACH - 1)]
    assert.equal(clients.length, CLIENTS_PER_UFRAG)
    for (const client of clients) await stage.connect(client, one, ufrag)
    const refused = (): number => stage.drops().get('ufrag_addresses')!
    for (const client of strangers()) assert.equal(await forwarded([client], ufrag, 1), 0)
    assert.equal(refused(), 2)
    for (const [i, { thread }] of stage.relay.workers.entries()) {
      await thread!.kill()
      await eventually('it is replaced', () => thread!.restarts === 1, PATIENCE_MS)
      for (const client of strangers()) assert.equal(await forwarded([client], ufrag, 1), 0)
      assert.equal(refused(), 4 + 2 * i)
      await stage.talk(sides[i]![0]!, one)
    }
  })

  test('has fifty unconfirmed packets a second, to one after the other', async () => {
    const counts = await inOneSecond(async function* (ufrag) {
      for (const client of [...strangers(), ...strangers()]) yield forwarded([client], ufrag, 40)
    })
    assert.deepEqual(counts, [40, UNCONFIRMED_PER_SECOND - 40, 0, 0])
  })

  test('has fifty unconfirmed packets a second, or one more when they come to both at once', async () => {
    const counts = await inOneSecond(async function* (ufrag) {
      for (let n = 0; n < 4; n++) yield forwarded(strangers(), ufrag, 60)
    })
    const sum = counts.reduce((a, b) => a + b)
    assert.ok(sum >= UNCONFIRMED_PER_SECOND && sum <= UNCONFIRMED_PER_SECOND + 1, `${counts}`)
  })
})
