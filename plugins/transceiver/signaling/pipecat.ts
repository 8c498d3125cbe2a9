/**
 * Calls as pipecat's small WebRTC transport starts them: `POST /api/offer` with the offer in JSON; `POST /start` for a
 * session first, which needs no key of its own afterwards: its id is a sealed token, and in the path.
 *
 * `requestData`, or the `body` of `/start`, becomes the call's session. Later offers of one peer connection are in
 * pipecat-later-offers.ts.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError } from '../../../core/index.ts'
import { takeBytes } from './bodies.ts'
import { byCallId, type CallDoor, callerOf } from './by-call-id.ts'
import { checkObject } from './json.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { answerLaterOffer, laterOfferIn, readBody, readOffer } from './pipecat-later-offers.ts'
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
  options: StartOptions & { readonly tokens: SealedTokens; readonly door: CallDoor },
): Promise<void> {
  const { callers, limit, tokens, door } = options
  await http.register(async (scope) => {
    expectCallers(scope)
    takeBytes(scope, 'application/json')
    scope.post(START_PATH, { onRequest: askWho(callers.identifyByKey, limit) }, async (request, reply) => {
      const asked = readBody(request, true)
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
    // Who asks is known by then, with the session that is bound to them.
    const { preHandler } = byCallId(door, laterOfferIn)
    for (const url of OFFER_PATHS) {
      const onRequest = askWho(callers.identify, limit)
      scope.post<OfferRoute>(url, { onRequest, preHandler }, (request, reply) =>
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
  const later = laterOfferIn(request)
  if (later !== undefined) return answerLaterOffer(calls, later, request, reply)
  const body = readBody(request)
  const sdp = readOffer(body)
  const { pc_id: replaces, requestData } = body
  const model = readModel(request.query.model)
  const session =
    requestData === undefined || requestData === null ? undefined : checkObject(requestData, 'requestData')
  const started = await startCall(calls, request, {
    sdp,
    dialect: 'rtvi',
    // With restart_pc: the client goes on with a new peer connection, and drops the one it had.
    ...(typeof replaces === 'string' ? { replaces } : {}),
    ...(model === undefined ? {} : { model }),
    ...(session === undefined ? {} : { session }),
  })
  return sendJson(reply, { sdp: started.sdp, type: 'answer', pc_id: started.id })
}
