/** Each thread has its own contexts; node:crypto shares OpenSSL's error queue with us. */

import assert from 'node:assert/strict'
import { createDecipheriv, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { SrtpSession } from '../../../../../plugins/transceiver/media/srtp.ts'
import { rtp } from '../media/srtp-packets.ts'
import { Pair, wrongFingerprint } from './dtls-pair.ts'

/** Connects and uses a session; whether all went well. */
function call(): boolean {
  const pair = new Pair().connect()
  const [server] = pair.server.keys
  const [client] = pair.client.keys
  if (!server || !client) return false
  const from = new SrtpSession(client)
  const to = new SrtpSession(server)
  const { bytes, end } = rtp(1)
  const opened = to.unprotectRtp(bytes, 0, from.protectRtp(bytes, 0, end)) === end
  from.close()
  to.close()
  pair.close()
  return opened
}

function calls(count: number): number {
  let good = 0
  for (let i = 0; i < count; i++) if (call()) good++
  return good
}

if (isMainThread) {
  test('four threads at once, and this one', async () => {
    const answers = Array.from({ length: 4 }, async () => {
      const worker = new Worker(new URL(import.meta.url))
      // A worker that is gone delivers its last message and its exit in one go.
      const [[message]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
      return message
    })
    assert.equal(calls(20), 20)
    assert.deepEqual(await Promise.all(answers), [20, 20, 20, 20])
  })

  test('failures of node:crypto and of ours do not become each other’s', () => {
    for (let i = 0; i < 50; i++) {
      const decipher = createDecipheriv('aes-128-gcm', randomBytes(16), randomBytes(12))
      decipher.setAuthTag(randomBytes(16))
      decipher.update(Buffer.from('abcd'))
      assert.throws(() => decipher.final())
      assert.ok(call())
      const refused = new Pair({ serverExpects: wrongFingerprint }).connect()
      assert.match(refused.server.ends.join(), /certificate verify failed/)
      refused.close()
      assert.equal(randomBytes(8).length, 8)
    }
  })
} else {
  parentPort?.postMessage(calls(20))
}
