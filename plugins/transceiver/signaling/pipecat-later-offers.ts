/**
 * Later offers of one peer connection, as pipecat's small WebRTC transport sends them: `POST /api/offer` with the call's id
 * as `pc_id`, and without `restart_pc`. They restart ICE, or say nothing new; the call goes on.
 *
 * What cannot be done so is answered 501, also where the call has ended meanwhile: upon that the client makes a new peer
 * connection, while it would give up at any 4xx.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError, type JsonObject } from '../../../core/index.ts'
import { byCallId, type CallRoutesOptions, callerOf } from './by-call-id.ts'
import type { CallService } from './call-service.ts'
import { readObject } from './json.ts'
import { OFFER_PATHS } from './pipecat-paths.ts'
import type { ReachedCall } from './reached-call.ts'
import { sendJson } from './send-json.ts'

/** The object in a body that came as bytes; one that may be empty is an empty object then. Throws EdgeError `bad_request`. */
export function readBody({ body }: FastifyRequest, mayBeEmpty = false): JsonObject {
  const text = Buffer.isBuffer(body) ? body.toString() : ''
  return mayBeEmpty && text.trim() === '' ? {} : readObject(text, 'body')
}

/** The offer in a body. Throws EdgeError `invalid_sdp` or `bad_request`. */
export function readOffer({ sdp, type }: JsonObject): string {
  if (typeof sdp !== 'string' || sdp === '') {
    throw new EdgeError('invalid_sdp', 'The body has no offer in "sdp".', { param: 'sdp' })
  }
  if (type !== 'offer') {
    throw new EdgeError('bad_request', 'The body is of another type than "offer".', { param: 'type' })
  }
  return sdp
}

/** The id of the call whose peer connection an offer is of; undefined for the first offer of one. */
export function laterOfferIn(request: FastifyRequest): string | undefined {
  const { pc_id: id, restart_pc: isNew } = readBody(request)
  return typeof id === 'string' && isNew !== true ? id : undefined
}

/** Answers a later offer of the call's peer connection. */
export function answerLaterOffer(
  calls: CallService,
  id: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const offer = readOffer(readBody(request))
  const sdp = reach(calls, id, request).renegotiate(offer)
  return sendJson(reply, { sdp, type: 'answer', pc_id: id })
}

/** Adds the routes to a scope of the control listener; on the public one they are also the way to start a call. */
export function registerLaterOffers(scope: FastifyInstance, { calls, door }: CallRoutesOptions): void {
  const hooks = byCallId(door, laterOfferIn)
  for (const url of OFFER_PATHS) {
    scope.post(url, hooks, (request, reply) =>
      answerLaterOffer(calls, laterOfferIn(request) ?? '', request, reply),
    )
  }
}

function reach(calls: CallService, id: string, request: FastifyRequest): ReachedCall {
  try {
    return calls.reach(id, callerOf(request))
  } catch (error) {
    if (!(error instanceof EdgeError) || error.code !== 'call_not_found') throw error
    const message =
      'There is no such call; it may have ended. Make another peer connection, and say restart_pc.'
    throw new EdgeError('not_implemented', message, { param: 'pc_id' })
  }
}
