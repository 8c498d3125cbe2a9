/** A backend of the WebSocket bridge that says everything back: audio as audio, events as events. */

import { once } from 'node:events'
import { type WebSocket, WebSocketServer } from 'ws'

/** A running backend. It is closed at the end of the scope: `await using`. */
export interface EchoBackend extends AsyncDisposable {
  readonly url: string
  /** The conversations that go on now. */
  readonly conversations: ReadonlySet<WebSocket>
  /** The first message of each conversation. */
  readonly starts: readonly unknown[]
}

/** Starts it on a port of the system's choice. */
export async function startEchoBackend(): Promise<EchoBackend> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const starts: unknown[] = []
  server.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => {
      const message = isBinary ? undefined : JSON.parse(String(data))
      if (message?.type === 'call.start') starts.push(message)
      else socket.send(data, { binary: isBinary })
    })
  })
  const bound = server.address()
  if (!bound || typeof bound === 'string') throw new Error('the backend has no port')
  return {
    url: `ws://127.0.0.1:${bound.port}/`,
    conversations: server.clients,
    starts,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}
