/** A cluster's node that lies about who has which slots: it costs recovery, while it lies, and nothing else. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventually } from '../../../../core/testing/check.ts'
import { bulk, FakeRedis } from '../../../peers/fake-redis.ts'
import { startStore } from './rig.ts'

const list = (...items: string[]): string => `*${items.length}\r\n${items.join('')}`
const int = (n: number): string => `:${n}\r\n`
const NIL = '$-1\r\n'

describe('redis-recovery with a hostile cluster', () => {
  for (const [what, lie] of [
    ['nothing for an entry', () => list('*-1\r\n')],
    ['nothing for a node', ({ port }) => list(list(int(0), int(16383), '*-1\r\n', node(port)))],
    ['slots without end', ({ port }) => list(list(int(0), int(1e15), node(port)))],
    ['slots below 0', ({ port }) => list(list(int(-1e15), int(5), node(port)))],
    [
      'the same slots, very often',
      ({ port }) => list(...Array(9000).fill(list(int(0), int(16383), node(port)))),
    ],
    ['a node on no port', () => list(list(int(0), int(16383), node(123_456)))],
    ['a map', () => '%1\r\n+__proto__\r\n+x\r\n'],
  ] as [string, (server: { port: number }) => string][]) {
    it(`is told of ${what}: it is left, and taken again once it tells the truth`, async () => {
      let isHonest = false
      let port = 0
      const truth = (): string => list(list(int(0), int(16383), node(port)))
      await using server = await FakeRedis.start(([name, sub]) => {
        if (name === 'CLUSTER' && sub?.toUpperCase() === 'INFO') return bulk('cluster_state:ok\r\n')
        if (name === 'CLUSTER') return isHonest ? truth() : lie({ port })
        return name === 'GET' ? NIL : undefined
      })
      port = Number(new URL(server.url).port)
      await using rig = await startStore({ cluster: { hosts: [`127.0.0.1:${port}`] } })
      await eventually('it is told of', () => rig.lines().some(({ msg }) => /^redis is away/.test(msg)))
      await assert.rejects(rig.recall())
      isHonest = true
      await rig.connected()
      assert.equal(await rig.recall(), undefined)
    })
  }
})

function node(port: number): string {
  return list(bulk('127.0.0.1'), int(port), bulk('0123456789abcdef0123456789abcdef01234567'))
}
