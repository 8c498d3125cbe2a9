import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedTimer } from '../../../../../plugins/transceiver/peer/shared-timer.ts'

const timeouts = (): number => process.getActiveResourcesInfo().filter((r) => r === 'Timeout').length

test('runs deadlines in their order on one system timer', async (t) => {
  const before = timeouts()
  const timer = new SharedTimer()
  t.after(() => timer.close())
  const ran: string[] = []
  await new Promise<void>((resolve) => {
    timer.set('c', 30, () => {
      ran.push('c')
      resolve()
    })
    timer.set('a', 5, () => ran.push('a'))
    timer.set('b', 15, () => ran.push('b'))
    assert.equal(timeouts() - before, 1)
  })
  assert.deepEqual(ran, ['a', 'b', 'c'])
  assert.equal(timeouts() - before, 0)
})

test('a deadline can be moved and forgotten, and set anew when it runs', async (t) => {
  const timer = new SharedTimer()
  t.after(() => timer.close())
  const ran: string[] = []
  timer.set('gone', 1, () => ran.push('gone'))
  timer.set('moved', 1, () => ran.push('too early'))
  timer.clear('gone')
  await new Promise<void>((resolve) => {
    timer.set('moved', 10, () => {
      ran.push('moved')
      timer.set('moved', 1, resolve)
    })
  })
  assert.deepEqual(ran, ['moved'])
})

test('a closed one holds nothing and takes nothing', () => {
  const before = timeouts()
  const timer = new SharedTimer()
  timer.set('a', 1000, () => {})
  timer.close()
  timer.set('b', 1000, () => {})
  assert.equal(timeouts(), before)
})
