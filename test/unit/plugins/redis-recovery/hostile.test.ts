/** A server that answers what no Redis would: nothing of it is believed, and the connection that cannot be used is left. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventually } from '../../../../core/testing/check.ts'
import { FakeRedis } from '../../../peers/fake-redis.ts'
import { startStore } from './rig.ts'

const NIL = '$-1\r\n'

describe('redis-recovery with a hostile server', () => {
  for (const [what, answer] of [
    ['a number', ':5\r\n'],
    ['a text', '+x\r\n'],
    ['a list as long as a value', `*45\r\n${':1\r\n'.repeat(45)}`],
    ['a map', '%1\r\n+__proto__\r\n+x\r\n'],
  ] as const) {
    it(`takes ${what} for no value, and counts it`, async () => {
      await using server = await FakeRedis.start(([name]) => (name === 'GET' ? answer : undefined))
      await using rig = await startStore({ url: server.url })
      await rig.connected()
      assert.equal(await rig.recall(), undefined)
      assert.equal(await rig.metric('commands', { command: 'get', outcome: 'unreadable' }), 1)
    })
  }

  it('leaves a connection on which answers come that nobody asked for', async () => {
    let connections = 0
    await using server = await FakeRedis.start(([name]) => {
      if (name === 'INFO') connections++
      return name === 'GET' ? NIL + '+what\r\n'.repeat(3) : undefined
    })
    await using rig = await startStore({ url: server.url })
    await rig.connected()
    assert.equal(await rig.recall(), undefined)
    await eventually('it connected anew', () => connections === 2)
    await rig.connected()
  })

  it('leaves a connection that was put into subscriber mode, where nothing can be asked any more', async () => {
    let isHostile = true
    const push = '>3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n'
    await using server = await FakeRedis.start(([name]) => {
      if (name === 'GET') return isHostile ? push : NIL
      return undefined
    })
    await using rig = await startStore({ url: server.url, commandTimeoutMs: 50 })
    await rig.connected()
    await rig.recall().catch(() => {})
    isHostile = false
    const works = () =>
      rig.recall().then(
        () => true,
        () => false,
      )
    await eventually('it asks and is answered again', works, 10_000)
  })

  it('writes little of a long error into the log', async () => {
    const long = `-ERR ${'x'.repeat(100_000)}\r\n`
    await using server = await FakeRedis.start(([name]) => (name === 'GET' ? long : undefined))
    await using rig = await startStore({ url: server.url })
    await rig.connected()
    await assert.rejects(rig.recall())
    const reasons = rig.lines().map(({ reason }) => String(reason ?? ''))
    assert.ok(reasons.some((reason) => reason.startsWith('ERR xxx')))
    assert.ok(Math.max(...reasons.map((reason) => reason.length)) <= 200)
  })
})
