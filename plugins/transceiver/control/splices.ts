/**
 * WebSockets that were passed on: the client's connection and the owner's, joined byte for byte after the upgrade. Both
 * end together.
 */

import { STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** How long what one side said last may take to reach the other, in milliseconds. */
const LINGER_MS = 2000

/** After this long without a byte, TCP itself asks whether the other side is still there, in milliseconds. */
const KEEP_ALIVE_MS = 30_000

/** The connections that are joined. Close it: all are cut off then. */
export class Splices {
  readonly #sockets = new Set<Duplex>()

  /** How many pairs there are. */
  get size(): number {
    return this.#sockets.size / 2
  }

  /** Tells the client of the upgrade with the owner's own headers, and joins the two. */
  join(
    client: Duplex,
    { socket: owner, head }: { readonly socket: Duplex; readonly head: Buffer },
    headers: Readonly<Record<string, string>>,
  ): void {
    if (client.destroyed) {
      owner.destroy()
      return
    }
    const lines = Object.entries({ ...headers, connection: 'Upgrade' }).map((field) => field.join(': '))
    this.#tie(client, owner)
    this.#tie(owner, client)
    client.write(`HTTP/1.1 101 ${STATUS_CODES[101]}\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1')
    if (head.length > 0) client.write(head)
    client.pipe(owner)
    owner.pipe(client)
  }

  /** Cuts all of them off. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #tie(from: Duplex, to: Duplex): void {
    this.#sockets.add(from)
    if (from instanceof Socket) from.setKeepAlive(true, KEEP_ALIVE_MS)
    from.on('error', () => from.destroy())
    from.on('close', () => {
      this.#sockets.delete(from)
      if (to.destroyed) return
      const timer = setTimeout(() => to.destroy(), LINGER_MS)
      to.on('close', () => clearTimeout(timer))
      to.end(() => to.destroy())
    })
  }
}
