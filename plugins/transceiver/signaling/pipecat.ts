/**
 * Calls as pipecat's small WebRTC transport starts them: `POST /api/offer` with the offer in JSON; `POST /start` for a
 * session first, which needs no key of its own afterwards: its id is a sealed token, and in the path.
 *
 * `requestData`, or the `body` of `/start`, becomes the call's session. A second offer for the same peer connection is not
 * served: the client then makes a new one, which is.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError, type JsonObject } from '../../../core/index.ts'
import { takeJsonText } from './bodies.ts'
import { callerOf } from './by-call-id.ts'
import { checkObject, readObject } from './json.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { OFFER_PATHS, START_PATH } from './pipecat-paths.ts'
import type { SealedTokens } from './sealed-tokens.ts'
import { sendJson } from './send-json.ts'
import { askWho, expectCallers, readModel, type StartOptions, startCall } from './start-call.ts'

/** How long a session may be used to start calls, in seconds. */
const SESSION_SECONDS = 3600

/** The largest `body` of a session, as JSON, in bytes: it travels in a path. */
const MAX_SESSION_BODY = 2048

interface OfferRoute {
  Querystring: { model?: unknown }
}

/** Adds the routes to a scope of the public listener. */
export async function registerPipecat(
  http: FastifyInstance,
  options: StartOptions & { readonly tokens: SealedTokens },
): Promise<void> {
  const { callers, limit, tokens } = options
  await http.register(async (scope) => {
    expectCallers(scope)
    takeJsonText(scope)
    scope.post(START_PATH, { onRequest: askWho(callers.identifyByKey, limit) }, async (request, reply) => {
      const asked = bodyOf(request, true)
      const session = asked.body === undefined || asked.body === null ? {} : checkObject(asked.body, 'body')
      if (Buffer.byteLength(JSON.stringify(session)) > MAX_SESSION_BODY) {
        const message = `A session carries at most ${MAX_SESSION_BODY} bytes of body.`
        throw new EdgeError('bad_request', message, { param: 'body' })
      }
      const { value } = await tokens.seal(
        'session',
        { name: callerOf(request).name, session },
        SESSION_SECONDS,
      )
      return sendJson(reply, {
        sessionId: value,
        ...(asked.enableDefaultIceServers === true ? { iceConfig: { iceServers: [] } } : {}),
      })
    })
    refuseOtherMethods(scope, START_PATH, 'POST')
    for (const url of OFFER_PATHS) {
      scope.post<OfferRoute>(url, { onRequest: askWho(callers.identify, limit) }, (request, reply) =>
        offer(options, request, reply),
      )
      refuseOtherMethods(scope, url, 'POST', 'PATCH')
    }
  })
}

async function offer(
  { calls }: StartOptions,
  request: FastifyRequest<OfferRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = bodyOf(request)
  const { sdp, type, pc_id: before, restart_pc: isNew, requestData } = body
  if (typeof sdp !== 'string' || sdp === '') {
    throw new EdgeError('invalid_sdp', 'The body has no offer in "sdp".', { param: 'sdp' })
  }
  if (type !== 'offer')
    throw new EdgeError('bad_request', 'The body is of another type than "offer".', { param: 'type' })
  if (typeof before === 'string' && isNew !== true) {
    const message = 'A peer connection is not negotiated anew: make another one, and say restart_pc.'
    throw new EdgeError('not_implemented', message, { param: 'restart_pc' })
  }
  const model = readModel(request.query.model)
  const session =
    requestData === undefined || requestData === null ? undefined : checkObject(requestData, 'requestData')
  const started = await startCall(calls, request, {
    sdp,
    dialect: 'rtvi',
    ...(model === undefined ? {} : { model }),
    ...(session === undefined ? {} : { session }),
  })
  return sendJson(reply, { sdp: started.sdp, type: 'answer', pc_id: started.id })
}

function bodyOf({ body }: FastifyRequest, mayBeEmpty = false): JsonObject {
  const text = typeof body === 'string' ? body : ''
  return mayBeEmpty && text.trim() === '' ? {} : readObject(text, 'body')
}
