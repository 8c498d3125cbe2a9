/**
 * Sidebands: WebSockets by call id, `GET /v1/realtime?call_id=rtc_…`. A server beside the client hears the same events as
 * the call's data channel carries, and speaks as the client does. The call's end closes them, with its reason.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { EdgeError } from '../../../core/index.ts'
import { MAX_DEPTH, parseEvent, toErrorEvent } from '../session-events.ts'
import { byCallId, type CallRoutesOptions, callerOf } from './by-call-id.ts'
import { callNotFound } from './call-service.ts'
import type { EventListener, JoinedCall, ReachedCall } from './reached-call.ts'
import { SidebandIntake } from './sideband-intake.ts'

/** Where sidebands go and, in the older shape, offers. */
export const REALTIME_PATH = '/v1/realtime'

/** How much may wait to be sent to a sideband, in bytes, before it is cut off. */
export const MAX_WAITING = 1_048_576

/** How often a sideband is asked whether it is still there, in milliseconds; it also keeps proxies from closing it. */
export const PING_MS = 25_000

/** A reason has at most 123 bytes in a close frame (RFC 6455 §5.5). */
const MAX_REASON = 120
const GOING = 1000
const TOO_SLOW = 1008
const FAILED = 1011

/** Adds the route to a scope with the hooks of routes by call id. */
export function registerSideband(scope: FastifyInstance, { calls, door }: CallRoutesOptions): void {
  const hooks = byCallId(door, idIn)
  scope.get(
    REALTIME_PATH,
    {
      ...hooks,
      websocket: true,
      exposeHeadRoute: false,
      // Before the upgrade, so that who may not listen is told so by HTTP.
      preHandler: [hooks.preHandler, async (request) => void reachCall(request)],
    },
    (socket, request) => {
      watch(socket)
      attach(socket, () => reachCall(request))
    },
  )

  function reachCall(request: FastifyRequest): ReachedCall {
    const id = idIn(request)
    if (id === undefined) {
      const message =
        'Realtime over a WebSocket alone is not served: offer a call by SDP, then name its call_id here.'
      throw new EdgeError('not_implemented', message, { param: 'call_id' })
    }
    if (!request.ws) {
      throw new EdgeError('bad_request', 'A sideband is a WebSocket: ask for an upgrade.')
    }
    return calls.reach(id, callerOf(request))
  }
}

function idIn({ query }: FastifyRequest): string | undefined {
  const isNamed = typeof query === 'object' && query !== null && 'call_id' in query
  if (!isNamed || query.call_id === '') return undefined
  if (typeof query.call_id === 'string') return query.call_id
  throw callNotFound()
}

/** Joins a socket to its call, which may have ended in the meantime. */
function attach(socket: WebSocket, reach: () => ReachedCall): void {
  const listener: EventListener = {
    onEvent(text) {
      if (socket.readyState !== socket.OPEN) return
      if (socket.bufferedAmount + text.length > MAX_WAITING) {
        leave()
        socket.close(TOO_SLOW, 'too slow')
        return
      }
      socket.send(text)
    },
    onEnd(reason, failed) {
      leave()
      socket.close(failed ? FAILED : GOING, reason.slice(0, MAX_REASON))
    },
  }
  let joined: JoinedCall
  try {
    joined = reach().listeners.join(listener)
  } catch (error) {
    const code = error instanceof EdgeError ? error.code : 'internal'
    socket.close(code === 'call_not_found' ? GOING : TOO_SLOW, code)
    return
  }
  const intake = new SidebandIntake(socket, joined.budget, (text) => {
    const event = text === undefined ? undefined : parseEvent(text)
    if (text !== undefined && event) joined.send(event, text.length)
    else {
      const message = `An event is a JSON object, sent as text, at most ${MAX_DEPTH} levels deep.`
      listener.onEvent(JSON.stringify(toErrorEvent(new EdgeError('bad_request', message))))
    }
  })
  const leave = (): void => {
    joined.leave()
    intake.stop()
  }
  socket.on('close', leave)
}

/** Ends a socket whose peer has gone without a word. Behind what is not read yet, an answer may wait. */
function watch(socket: WebSocket): void {
  let answered = true
  const timer = setInterval(() => {
    if (!answered && !socket.isPaused) socket.terminate()
    else socket.ping()
    answered = false
  }, PING_MS).unref()
  for (const sign of ['message', 'pong']) {
    socket.on(sign, () => {
      answered = true
    })
  }
  socket.on('close', () => clearInterval(timer))
}
