/**
 * The smallest backend for the websocket bridge: it sends audio and events back as they come. To run it by hand:
 *
 *     node bin/node.js test/examples/echo-backend.ts 9100
 */

import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

/** A running backend. */
export interface EchoBackend {
  readonly url: string
  /** The connections that are open. */
  readonly connections: ReadonlySet<WebSocket>
  /** The call.start of every connection so far. */
  readonly starts: readonly unknown[]
  close(): Promise<void>
}

/** Starts it on 127.0.0.1; port 0 takes any. */
export async function startEchoBackend(port = 0): Promise<EchoBackend> {
  const server = new WebSocketServer({ host: '127.0.0.1', port, perMessageDeflate: false })
  const starts: unknown[] = []
  server.on('connection', (socket) => {
    socket.once('message', (first) => {
      starts.push(JSON.parse(first.toString()))
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('error', reject)
  })
  return {
    url: `ws://127.0.0.1:${portOf(server.address())}/`,
    connections: server.clients,
    starts,
    close: () => {
      for (const socket of server.clients) socket.terminate()
      return new Promise((resolve) => {
        server.close(() => resolve())
      })
    },
  }
}

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server is not listening on TCP')
  return address.port
}

// bin/node.js imports a script where the Node that started it will do; then import.meta.main is false.
if (import.meta.main || process.argv[1] === import.meta.filename) {
  const backend = await startEchoBackend(Number(process.argv[2] ?? 9100))
  console.log(`An echo for the websocket bridge; its options are { "url": "${backend.url}" }`)
}
