/** The kit passes stores that keep the contract, late ones too, and each of its checks fails one that breaks it. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withPatience } from '../../../../core/testing/check.ts'
import {
  checkRecoveryStore,
  type RecoveryStoreSubject,
  recoveryStoreChecks,
} from '../../../../core/testing/recovery-store.ts'
import { BROKEN, CAPACITY, LateStore, SimpleStore } from './broken-stores.ts'

/** What a broken store may take, in milliseconds. */
const SHORT = 2000

const subject = (store: SimpleStore): RecoveryStoreSubject => ({
  store,
  advance: (ms) => store.clock.advance(ms),
  capacity: CAPACITY,
})

checkRecoveryStore('a simple store', () => subject(new SimpleStore()))
checkRecoveryStore('a late store', async () => subject(new LateStore()))
checkRecoveryStore('a store with no clock and no bound', () => ({ store: new LateStore() }))

describe('the kit fails a store that', { concurrency: true }, () => {
  for (const [what, [which, make]] of Object.entries(BROKEN)) {
    test(what, async () => {
      const checks = recoveryStoreChecks(() => subject(make())).filter(([name]) => which.test(name))
      assert.equal(checks.length, 1)
      await assert.rejects(withPatience(SHORT, checks[0]![1]))
    })
  }
})

test('what cannot be seen of a store is said, not passed over', async () => {
  const reasons = recoveryStoreChecks(() => ({ store: new SimpleStore() })).map(([, run]) => run())
  assert.deepEqual(
    (await Promise.all(reasons)).filter((reason) => reason !== undefined),
    ['the subject has no "advance"', 'the subject has no "capacity"'],
  )
})

test('a store is closed after each check, failed or not', async () => {
  let closed = 0
  const close = (): void => {
    closed++
  }
  const [ok] = recoveryStoreChecks(() => ({ store: new SimpleStore(), close }))
  await ok![1]()
  assert.equal(closed, 1)
  const broken = BROKEN['gives a promise to wait for']![1]
  const failing = recoveryStoreChecks(() => ({ store: broken(), close })).find(([name]) =>
    /at once/.test(name),
  )
  await assert.rejects(withPatience(SHORT, failing![1]))
  assert.equal(closed, 2)
})
