/** Calls by libdatachannel, each in a process of its own. */

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { skipWithout } from '../needs.ts'
import { CHECKS } from './libdatachannel-checks.ts'

const PROGRAM = join(import.meta.dirname, 'libdatachannel-checks.ts')

describe('libdatachannel', () => {
  for (const [n, [name]] of CHECKS.entries()) {
    const skip = name.includes('RSA') && skipWithout('openssl')
    it(name, { skip, timeout: 60_000 }, async () => {
      const child = fork(PROGRAM, [String(n)])
      const gone = once(child, 'exit').then(() => assert.fail('the process ended without a word'))
      const [error] = await Promise.race([once(child, 'message'), gone])
      assert.equal(error, '')
    })
  }
})
