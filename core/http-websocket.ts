/** WebSockets on a listener: routes with `websocket: true` take them, every other path answers as it does to anybody. */

import type { IncomingMessage } from 'node:http'
import type {} from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import { KEY_SUBPROTOCOL } from './http-auth.ts'
import { inTurns, takeTurns } from './websocket-turns.ts'

/** The largest message that a listener takes, in bytes. */
export const MAX_WEBSOCKET_MESSAGE = 262_144

/**
 * Makes a listener take upgrades, before its routes are added. Only to the paths of routes that want them: a request that
 * asks for one elsewhere stays a request like any other, with its answer and under Node's time limits, which reach no
 * connection that was upgraded. A route that wants them and has a parameter in its path throws. On the whole listener, so that an upgrade that is refused also has its connection closed.
 */
export async function addWebSockets(instance: FastifyInstance): Promise<void> {
  const paths = new Set<string>()
  instance.addHook('onRoute', ({ url, websocket: isOne }) => {
    if (!isOne) return
    if (/[:*]/.test(url)) throw new Error(wouldMiss(url))
    paths.add(url)
  })
  const shouldUpgradeCallback = ({ method, url = '' }: IncomingMessage): boolean =>
    method === 'GET' && paths.has(url.split('?', 1)[0]!)
  Object.assign(instance.server, { shouldUpgradeCallback })
  // Loaded here, since plugins' door leads past this file and most of what uses that has no listener.
  const { default: websocket } = await import('@fastify/websocket')
  await instance.register(websocket, {
    options: {
      perMessageDeflate: false,
      ...inTurns(MAX_WEBSOCKET_MESSAGE),
      handleProtocols,
    },
    errorHandler: (error, socket, request) => {
      request.log.debug({ err: error }, 'websocket failed')
      socket.terminate()
    },
  })
  instance.websocketServer.on('connection', takeTurns)
}

const wouldMiss = (url: string): string =>
  `the route ${url} wants WebSockets, whose paths are compared as they are: name a path without ":" and "*", and take the rest from the query`

/** The first one offered; never the one that carries a key, which must not come back in an answer. */
function handleProtocols(offered: Set<string>): string | false {
  return [...offered].find((one) => !one.startsWith(KEY_SUBPROTOCOL)) ?? false
}
