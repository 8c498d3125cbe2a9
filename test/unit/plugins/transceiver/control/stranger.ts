/** What listens at an owner's address and is none. */

import { createServer, type RequestListener } from 'node:http'
import type { Server, Socket } from 'node:net'
import { type Address, toAddress } from '../../../../../core/index.ts'

/** Something else that listens where an owner should, and how often it was dialled. */
export class Stranger implements AsyncDisposable {
  dialled = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => {
      this.dialled++
      this.#sockets.add(socket)
    })
  }

  static async open(server: Server): Promise<Stranger> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Stranger(server)
  }

  static http = (handler: RequestListener): Promise<Stranger> => Stranger.open(createServer(handler))

  get local(): Address {
    const bound = this.#server.address()
    return toAddress('127.0.0.1', typeof bound === 'object' && bound ? bound.port : 0)!
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
