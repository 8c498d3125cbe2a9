/** A call to the example bridge: the caller whistles and falls silent, and hears the backend's answer. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { TestClient } from '../../peers/client.ts'
import type { Post } from '../../peers/signaling.ts'
import { sendPaced, tonesIn, whistle } from './tones.ts'

const TONES = [440, 1000, 2500].map((hertz) => ({ hertz, durationMs: 400 }))
/** What a browser sends when its caller falls silent, before it sends nothing. */
const DTX = Buffer.of(0x48)

/** A backend that gives back what it was told. */
export async function startParrot() {
  const turns: string[] = []
  const server = createServer((request, response) => {
    turns.push(request.headers.authorization ?? 'no key')
    request.pipe(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return {
    url: `http://127.0.0.1:${address.port}/turn`,
    turns,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Makes the call; the turn ends though the client sends nothing any more. */
export async function takeTurn(post: Post): Promise<void> {
  const client = await TestClient.connect(post)
  try {
    await sendPaced(client, whistle(TONES))
    client.sendAudio(DTX)
    const answered = await client.events.take()
    assert.partialDeepStrictEqual(answered, { type: 'answer.started' })
    const packets = await client.audio.takeMany(60)
    assert.deepEqual(
      tonesIn(
        packets.map(({ payload }) => payload),
        TONES,
        200,
      ),
      [0, 1, 2],
    )
  } finally {
    await client.close()
  }
}
