/** A client that talks, one packet every 20 ms as people's phones do. */

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestClient } from '../../peers/client.ts'

/** Sends audio until `done` says so; rejects after `patience` milliseconds. */
export async function talkUntil(
  client: TestClient,
  done: () => boolean | Promise<boolean>,
  patience = 10_000,
): Promise<void> {
  const until = performance.now() + patience
  while (!(await done())) {
    if (performance.now() > until) throw new Error('the client talked in vain')
    // CELT, fullband, mono, 20 ms, as far as its length can be told; the rest is noise.
    client.sendAudio(Buffer.concat([Buffer.of(31 << 3), randomBytes(79)]))
    await delay(20)
  }
}
