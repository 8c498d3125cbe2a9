/**
 * Calls are started in OpenAI Realtime's shape: `POST /v1/realtime/calls`, and `POST /v1/realtime` as before
 * its general availability. What is asked of a call by its id is in call-routes.ts.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError } from '../../../core/index.ts'
import { CALLS_PATH } from './call-routes.ts'
import { demandOffer, readOffer, takeOffers } from './offer-body.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { REALTIME_PATH } from './sideband.ts'
import { askWho, expectCallers, readModel, SDP, type StartOptions, startCall } from './start-call.ts'

/** The largest id of a data channel (RFC 8832 §6): 65535 is no stream. */
const MAX_CHANNEL_ID = 65_534

interface StartRoute {
  Querystring: { model?: unknown; dcid?: unknown }
}

/** Adds the routes to a scope of the public listener. */
export async function registerCalls(http: FastifyInstance, options: StartOptions): Promise<void> {
  const { calls, callers, limit } = options
  await http.register(async (scope) => {
    expectCallers(scope)
    await takeOffers(scope)
    const onRequest = [...askWho(callers.identify, limit), demandOffer]
    const start = async (request: FastifyRequest<StartRoute>, reply: FastifyReply) => {
      const model = readModel(request.query.model)
      const channelId = readChannelId(request.query.dcid)
      const { id, sdp } = await startCall(calls, request, {
        ...(await readOffer(request)),
        ...(model === undefined ? {} : { model }),
        ...(channelId === undefined ? {} : { channelId }),
      })
      reply.header('location', `${CALLS_PATH}/${id}`)
      // As bytes: Fastify then states their length and leaves the type as it is; small clients need both.
      return reply.code(201).header('content-type', SDP).send(Buffer.from(sdp))
    }
    scope.post<StartRoute>(CALLS_PATH, { onRequest }, start)
    scope.post<StartRoute>(REALTIME_PATH, { onRequest }, start)
    refuseOtherMethods(scope, CALLS_PATH, 'POST')
    refuseOtherMethods(scope, REALTIME_PATH, 'GET', 'POST')
  })
}

function readChannelId(value: unknown): number | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string' && /^\d{1,5}$/.test(value) && Number(value) <= MAX_CHANNEL_ID) {
    return Number(value)
  }
  throw new EdgeError('bad_request', `dcid is the id of a data channel, 0 to ${MAX_CHANNEL_ID}.`, {
    param: 'dcid',
  })
}
