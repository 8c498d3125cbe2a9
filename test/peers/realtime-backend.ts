/** A Realtime backend for tests: a WebSocket server whose conversations go by a script. */

import { createServer as createPlain, type Server } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { Inbox } from './inbox.ts'
import { BackendConversation, type Script } from './realtime-backend-conversation.ts'

/** How it is started. */
export interface BackendOptions extends Script {
  /** Serves TLS, as clients that insist on it need. */
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Without such a bearer token it refuses. */
  readonly key?: string
  /** False: it answers no ping. */
  readonly autoPong?: boolean
}

/** A running backend. It is stopped at the end of the scope: `await using`. */
export class RealtimeBackend implements AsyncDisposable {
  /** Every connection in turn. */
  readonly conversations = new Inbox<BackendConversation>('connections')
  readonly #server: Server
  readonly #sockets: WebSocketServer
  readonly #tls: boolean

  private constructor(server: Server, sockets: WebSocketServer, tls: boolean) {
    this.#server = server
    this.#sockets = sockets
    this.#tls = tls
  }

  /** Starts one on a port of the system's choice. */
  static async start(options: BackendOptions = {}): Promise<RealtimeBackend> {
    const { tls, key, autoPong = true } = options
    const server = tls ? createSecure(tls) : createPlain()
    const sockets = new WebSocketServer({
      server,
      autoPong,
      perMessageDeflate: false,
      maxPayload: 16_777_216,
      handleProtocols: (names) => (names.has('realtime') ? 'realtime' : false),
      verifyClient: ({ req }, done) => {
        const authorized = key === undefined || req.headers.authorization === `Bearer ${key}`
        const { pathname, searchParams } = new URL(req.url ?? '/', 'http://backend')
        if (!authorized) done(false, 401)
        else if (pathname !== '/v1/realtime') done(false, 404)
        else done(searchParams.has('model'), 400)
      },
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const backend = new RealtimeBackend(server, sockets, tls !== undefined)
    sockets.on('connection', (socket, request) => {
      const url = new URL(request.url ?? '/', 'http://backend')
      backend.conversations.push(new BackendConversation(socket, url, request.headers, options))
    })
    return backend
  }

  /** Where its Realtime WebSocket is. */
  get url(): string {
    const { port } = address(this.#server)
    return `${this.#tls ? 'wss' : 'ws'}://127.0.0.1:${port}/v1/realtime`
  }

  /** How many connections are open. */
  get open(): number {
    return this.#sockets.clients.size
  }

  /** Breaks every connection off, and stops. Idempotent. */
  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate()
    this.#sockets.close()
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

function address(server: Server): AddressInfo {
  const bound = server.address()
  if (!bound || typeof bound === 'string') throw new Error('the backend has no port')
  return bound
}
