/**
 * The routes by call id (DESIGN §4): `GET …/calls/{id}`, `DELETE …/calls/{id}`, `POST …/calls/{id}/hangup`.
 *
 * They are registered twice, by the one function below: on the public listener, whose door passes a request for
 * another owner's call on to that owner, and on the owner's control listener, whose door passes nothing on. A route
 * itself knows of neither: when its handler runs, the caller is known and the call, if there is one, is this process's.
 *
 * To add a route by call id:
 * - register it in `registerCallRoutes`, or in a function that is called there, with `...byCallId(door)` among its
 *   options; where the id is not the path's `:id`, name it: `...byCallId(door, (request) => request.query.call_id)`.
 *   Without an id a request is this process's own affair. Any method will do, and a WebSocket:
 *   `scope.get(url, { websocket: true, ...byCallId(door, idOf) }, handler)` (upgrades are passed on by the same hook);
 * - take the body as bytes, as the scope's parser gives it: what is passed on is what was sent;
 * - compare the secret and the caller in the service (`CallService`), as its other methods do;
 * - if a request or an answer needs a header that no route needed before, list it in `control/headers.ts`.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { EdgeError, type Principal } from '../../../core/index.ts'
import { type CallService, callNotFound } from './call-service.ts'
import type { RateHook } from './limits.ts'
import { refuseOtherMethods } from './other-methods.ts'

/** The path that starts calls; a call's own path is below it. */
export const CALLS_PATH = '/v1/realtime/calls'

const CALLER = 'caller'

/** A request by call id whose caller is known. */
export interface AskedCall {
  /** As it was sent; unread. */
  readonly id: string
  readonly caller: Principal
}

/** What differs between the listeners that serve the routes. */
export interface CallDoor {
  /** Who asks; runs before anything of the body is read. Throws EdgeError `unauthorized`. */
  identify(request: FastifyRequest): Principal | Promise<Principal>
  /** Refuses who asks too often, once they are known. */
  readonly limit?: RateHook
  /**
   * Passes the request on if another process owns the call; resolves true when it has been answered so. Rejects with
   * EdgeError `owner_unreachable`.
   */
  passOn?(request: FastifyRequest, reply: FastifyReply, asked: AskedCall): Promise<boolean>
}

/** What the routes stand on. */
export interface CallRoutesOptions {
  readonly calls: CallService
  readonly door: CallDoor
}

interface CallRoute {
  Params: { id: string }
}

/** The hooks of a route by call id, for its Fastify options: who asks, then whose call it is. */
export function byCallId(
  door: CallDoor,
  idOf: (request: FastifyRequest) => string | undefined = idInPath,
): {
  onRequest: ((request: FastifyRequest, reply: FastifyReply) => Promise<void>)[]
  preHandler: preHandlerAsyncHookHandler
} {
  return {
    onRequest: [
      async (request) => request.setDecorator(CALLER, await door.identify(request)),
      ...(door.limit ? [door.limit] : []),
    ],
    async preHandler(request, reply) {
      const id = idOf(request)
      if (id !== undefined && (await door.passOn?.(request, reply, { id, caller: callerOf(request) })))
        return reply
    },
  }
}

/** Who asks, in a route with the hooks of `byCallId`. */
export function callerOf(request: FastifyRequest): Principal {
  return request.getDecorator<Principal>(CALLER)
}

/** Adds every route by call id to a scope of the public or of the control listener. */
export async function registerCallRoutes(http: FastifyInstance, options: CallRoutesOptions): Promise<void> {
  await http.register(async (scope) => {
    scope.decorateRequest(CALLER, null)
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    registerCall(scope, options)
  })
}

function registerCall(scope: FastifyInstance, { calls, door }: CallRoutesOptions): void {
  const hooks = byCallId(door)
  // Clients send a hang-up with an empty JSON body, or with none, or with a form: whatever it is, it says nothing.
  const anyBody = { ...hooks, onRequest: [...hooks.onRequest, forgetType] }
  const hangUp = async (request: FastifyRequest<CallRoute>, reply: FastifyReply) => {
    alike(() => calls.hangUp(request.params.id, callerOf(request)))
    return sendJson(reply, {})
  }
  const describe = async (request: FastifyRequest<CallRoute>, reply: FastifyReply) =>
    sendJson(
      reply,
      alike(() => calls.describe(request.params.id, callerOf(request))),
    )
  scope.post<CallRoute>(`${CALLS_PATH}/:id/hangup`, anyBody, hangUp)
  refuseOtherMethods(scope, `${CALLS_PATH}/:id/hangup`, 'POST')
  scope.get<CallRoute>(`${CALLS_PATH}/:id`, { ...hooks, exposeHeadRoute: false }, describe)
  scope.delete<CallRoute>(`${CALLS_PATH}/:id`, anyBody, hangUp)
  refuseOtherMethods(scope, `${CALLS_PATH}/:id`, 'GET', 'DELETE')
}

function idInPath({ params }: FastifyRequest): string | undefined {
  const isKnown = typeof params === 'object' && params !== null && 'id' in params
  return isKnown && typeof params.id === 'string' ? params.id : undefined
}

/** Whatever the service says of a call that is not there, it is said in the same words. */
function alike<T>(ask: () => T): T {
  try {
    return ask()
  } catch (error) {
    throw error instanceof EdgeError && error.code === 'call_not_found' ? callNotFound() : error
  }
}

function sendJson(reply: FastifyReply, value: object): FastifyReply {
  reply.code(200).header('content-type', 'application/json').header('cache-control', 'no-store')
  return reply.send(Buffer.from(JSON.stringify(value)))
}

/** Fastify refuses a Content-Type that is empty, as Go sends it, or no media type, whatever parser there is for all. */
async function forgetType(request: FastifyRequest): Promise<void> {
  delete request.raw.headers['content-type']
}
