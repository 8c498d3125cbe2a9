/** Calls by the dozen, for measuring: the same clients to whatever server. */

import { TestClient } from '../../peers/client.ts'
import type { ClientOptions } from '../../peers/client-options.ts'
import type { ServerProcess } from './server-process.ts'

/** At most so many calls are being set up at a time. */
const AT_ONCE = 4

/** libdatachannel leaves one call in some thousands unanswered; we may not. */
const FORGIVEN = 3

/** Connects `count` calls. The clients are the DTLS clients, so that servers do the same work. */
export async function connectMany(
  server: ServerProcess,
  count: number,
  options: ClientOptions = {},
): Promise<TestClient[]> {
  const clients: TestClient[] = []
  let left = count
  let forgiven = server.kind === 'libdatachannel' ? FORGIVEN : 0
  const connect = (): Promise<TestClient> =>
    TestClient.connect(server.post, {
      setup: 'active',
      keep: false,
      ...(server.via ? { via: server.via } : {}),
      ...options,
    })
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      try {
        clients.push(await connect())
      } catch (error) {
        if (forgiven-- <= 0) throw error
        left++
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  } catch (error) {
    await closeAll(clients)
    throw new Error(`a call to ${server.kind} failed, after ${clients.length} that did not`, { cause: error })
  }
  return clients
}

/** Closes them and waits until the server has noticed, if it is given. */
export async function closeAll(clients: readonly TestClient[], server?: ServerProcess): Promise<void> {
  await Promise.all(clients.map((client) => client.close()))
  await server?.untilIdle()
}

/** Audio as it comes in life: each client a packet every 20 ms, the clients spread over that time. */
export async function pump(
  clients: readonly TestClient[],
  payload: Uint8Array,
  milliseconds: number,
): Promise<number> {
  const begin = performance.now()
  const total = Math.floor(milliseconds / 20) * clients.length
  const gap = 20 / clients.length
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor((performance.now() - begin) / gap) + 1)
    for (; sent < due; sent++) clients[sent % clients.length]!.sendAudio(payload)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return total
}
