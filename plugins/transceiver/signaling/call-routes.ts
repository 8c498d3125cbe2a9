/**
 * The routes by call id: `GET …/calls/{id}`, `DELETE …/calls/{id}`, `POST …/calls/{id}/hangup`.
 *
 * They are registered twice, by the functions below: on the public listener, whose door passes a request for another
 * owner's call on to that owner, and on the owner's control listener, whose door passes nothing on. A route
 * itself knows of neither: when its handler runs, the caller is known and the call, if there is one, is this process's.
 *
 * To add a route by call id:
 * - register it in `register`, or in a function that is called there, with `...byCallId(door)` among its
 *   options; where the id is not the path's `:id`, name it: `...byCallId(door, (request) => request.query.call_id)`.
 *   Without an id a request is this process's own affair. Any method will do, and a WebSocket:
 *   `scope.get(url, { websocket: true, ...byCallId(door, idOf) }, handler)` (upgrades are passed on by the same hook);
 * - take the body as bytes, as the scope's parser gives it: what is passed on is what was sent;
 * - compare the secret and the caller in the service (`CallService`), as its other methods do;
 * - if a request or an answer needs a header that no route needed before, list it in `control/headers.ts`.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { takeBytes } from './bodies.ts'
import { alike, byCallId, CALLER, type CallRoutesOptions, callerOf, forgetType } from './by-call-id.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { registerCandidates } from './pipecat-candidates.ts'
import { registerLaterOffers } from './pipecat-later-offers.ts'
import { registerSideband } from './sideband.ts'
import { registerSipRoutes } from './sip-routes.ts'
import { registerWhipSessions } from './whip-sessions.ts'

/** The path that starts calls; a call's own path is below it. */
export const CALLS_PATH = '/v1/realtime/calls'

interface CallRoute {
  Params: { id: string }
}

/** Adds every route by call id to a scope of the public listener, but for what starts calls as well (`pipecat.ts`). */
export function registerCallRoutes(http: FastifyInstance, options: CallRoutesOptions): Promise<void> {
  return register(http, options, () => {})
}

/** Adds every route by call id to a scope of the control listener. */
export function registerOwnedRoutes(http: FastifyInstance, options: CallRoutesOptions): Promise<void> {
  return register(http, options, registerLaterOffers)
}

async function register(
  http: FastifyInstance,
  options: CallRoutesOptions,
  more: (scope: FastifyInstance, options: CallRoutesOptions) => void,
): Promise<void> {
  await http.register(async (scope) => {
    scope.decorateRequest(CALLER, null)
    takeBytes(scope, '*')
    registerCall(scope, options)
    registerSipRoutes(scope, options)
    registerSideband(scope, options)
    registerWhipSessions(scope, options)
    registerCandidates(scope, options)
    more(scope, options)
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

function sendJson(reply: FastifyReply, value: object): FastifyReply {
  reply.code(200).header('content-type', 'application/json').header('cache-control', 'no-store')
  return reply.send(Buffer.from(JSON.stringify(value)))
}
