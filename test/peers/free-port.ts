/** A port of 127.0.0.1 that was free a moment ago, for programs that must be told one. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Where they are: below the ports that the system gives to sockets that ask for any (RFC 6056 §3.2; Linux: from 32768),
 * or one of those could get it in the meantime.
 */
const FIRST = 10_000
const BLOCKS = 600
/** A program may take ports in a row, from the one that it is told. */
const BLOCK = 32

/** Test processes run beside each other; numbers that are near begin far apart. */
let block = process.pid * 37

/** The port's number, free for UDP and TCP. The next 31 are not given to anybody else by this process soon. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < BLOCKS; tries++) {
    const port = FIRST + (block++ % BLOCKS) * BLOCK
    if ((await isFreeForUdp(port)) && (await isFreeForTcp(port))) return port
  }
  throw new Error('no port of 127.0.0.1 is free')
}

async function isFreeForUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind(port, '127.0.0.1')
  const isFree = await succeeds(once(socket, 'listening'))
  const closed = once(socket, 'close')
  socket.close()
  await closed
  return isFree
}

async function isFreeForTcp(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  if (!(await succeeds(once(server, 'listening')))) return false
  const closed = once(server, 'close')
  server.close()
  await closed
  return true
}

/** False when the port is taken. */
async function succeeds(listening: Promise<unknown>): Promise<boolean> {
  try {
    await listening
    return true
  } catch {
    return false
  }
}
