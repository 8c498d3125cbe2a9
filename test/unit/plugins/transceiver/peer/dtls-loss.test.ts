/**
 * Handshakes over a network that loses, swaps and doubles datagrams. The network is deterministic; the
 * retransmission timers run on OpenSSL's own clock, so the test waits for the deadlines it is given.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DtlsConnection } from '../../../../../core/index.ts'
import { Pair } from './dtls-pair.ts'

const PAIRS = 40

function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const ended = (pair: Pair) =>
  [pair.server, pair.client].some(({ endpoint }) => endpoint.state === 'failed') ||
  [pair.server, pair.client].every(({ endpoint }) => endpoint.state === 'connected')

for (const [name, loss, reorder, duplicate] of [
  ['20% lost, 10% swapped, 10% doubled', 0.2, 0.1, 0.1],
  ['30% doubled, 30% swapped', 0, 0.3, 0.3],
] as const) {
  test(`${PAIRS} of ${PAIRS} handshakes succeed: ${name}`, async () => {
    const before = DtlsConnection.live
    const random = generator(11)
    const pairs = Array.from({ length: PAIRS }, () => new Pair())
    const deliver = (pair: Pair) => {
      for (let next = pair.wire.shift(); next; next = pair.wire.shift()) {
        if (random() < loss) continue
        if (random() < reorder && pair.wire.length > 0) pair.wire.splice(1, 0, next)
        else pair.hand(next.up ? pair.server : pair.client, next.datagram)
        if (random() < duplicate) pair.hand(next.up ? pair.server : pair.client, next.datagram)
      }
    }
    for (const pair of pairs) {
      pair.now = performance.now()
      pair.start()
      deliver(pair)
    }
    for (let open = pairs.filter((pair) => !ended(pair)); open.length > 0; ) {
      const deadlines = open.flatMap((pair) => [pair.server.endpoint.deadline, pair.client.endpoint.deadline])
      const next = Math.min(...deadlines)
      assert.ok(Number.isFinite(next), 'a handshake that is not over has a timer')
      await sleep(Math.max(1, next - performance.now()))
      for (const pair of open) {
        pair.now = performance.now()
        pair.client.endpoint.tick(pair.now)
        pair.server.endpoint.tick(pair.now)
        deliver(pair)
      }
      open = pairs.filter((pair) => !ended(pair))
    }
    for (const pair of pairs) {
      assert.deepEqual([pair.server.ends, pair.client.ends], [[], []])
      assert.equal(pair.server.keys.length, 1)
      assert.deepEqual(pair.server.keys[0]?.localKey, pair.client.keys[0]?.remoteKey)
      const largest = Math.max(
        ...[...pair.server.sent, ...pair.client.sent].map((datagram) => datagram.length),
      )
      assert.ok(largest <= 1200)
      pair.close()
    }
    assert.equal(DtlsConnection.live, before)
  })
}
