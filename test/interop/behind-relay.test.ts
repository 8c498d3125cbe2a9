/** libdatachannel as a server behind a relay, each check in a process of its own. */

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const PROGRAM = join(import.meta.dirname, 'behind-relay.ts')

describe('a server that knows nothing of relays, behind one', () => {
  for (const [credentials, name] of [
    ['own', 'libdatachannel with ufrags of its own, by defaultUpstream'],
    ['given', 'libdatachannel with a ufrag that the codec made, by its route'],
  ] as const) {
    it(name, { timeout: 60_000 }, async () => {
      const child = fork(PROGRAM, [credentials])
      const gone = once(child, 'exit').then(() => assert.fail('the process ended without a word'))
      const [error] = await Promise.race([once(child, 'message'), gone])
      assert.equal(error, '')
    })
  }
})
