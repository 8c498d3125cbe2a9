/** WebSockets on a listener: routes with `websocket: true` take them, every other path answers as it does to anybody. */

import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import { KEY_SUBPROTOCOL } from './http-auth.ts'

/** The largest message that a listener takes, in bytes. */
export const MAX_WEBSOCKET_MESSAGE = 262_144

/**
 * Makes a listener take upgrades. On the whole listener, so that an upgrade that is refused, or that no route wants,
 * also has its connection closed: Node's own time limits do not reach it any more.
 */
export async function addWebSockets(instance: FastifyInstance): Promise<void> {
  await instance.register(websocket, {
    options: { maxPayload: MAX_WEBSOCKET_MESSAGE, perMessageDeflate: false, handleProtocols },
    errorHandler: (error, socket, request) => {
      request.log.debug({ err: error }, 'websocket failed')
      socket.terminate()
    },
  })
}

/** The first one offered; never the one that carries a key, which must not come back in an answer. */
function handleProtocols(offered: Set<string>): string | false {
  return [...offered].find((one) => !one.startsWith(KEY_SUBPROTOCOL)) ?? false
}
