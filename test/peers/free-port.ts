/** A UDP port of 127.0.0.1 that was free a moment ago, for programs that must be told one. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** The port's number. */
export async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}
