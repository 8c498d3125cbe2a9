/**
 * WHIP (RFC 9725): `POST /whip` and `/whip/{app}` start a call from an SDP offer. The app is the call's model unless the
 * query names one. What is asked of a session afterwards is in whip-sessions.ts.
 *
 * Two things go beyond the RFC, and docs/adr/0006-whip-for-conversations.md says why: `sendrecv` is answered with
 * `sendrecv`, and video is refused line by line, not with the whole offer.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError } from '../../../core/index.ts'
import { mediaTypeOf, takeBytes } from './bodies.ts'
import { callerOf } from './by-call-id.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { SDP_FRAGMENT } from './sdp-fragment.ts'
import { askWho, expectCallers, readModel, readSdp, SDP, type StartOptions, startCall } from './start-call.ts'
import { entityTag, WHIP_SESSIONS } from './whip-sessions.ts'

interface WhipRoute {
  Params: { app?: string }
  Querystring: { model?: unknown }
}

const ENDPOINTS = ['/whip', '/whip/:app'] as const

/** Adds the endpoints to a scope of the public listener. */
export async function registerWhip(http: FastifyInstance, options: StartOptions): Promise<void> {
  const { calls, callers, limit } = options
  await http.register(async (scope) => {
    expectCallers(scope)
    takeBytes(scope, SDP)
    // On OPTIONS, which CORS may have answered before any handler, this is how a client learns what to send.
    scope.addHook('onSend', async (request, reply, payload) => {
      if (request.method !== 'POST') reply.header('accept-post', SDP)
      return payload
    })
    const onRequest = [...askWho(callers.identify, limit), demandSdp]
    for (const url of ENDPOINTS) {
      scope.post<WhipRoute>(url, { onRequest }, async (request, reply) => {
        const model = readModel(request.query.model) ?? readModel(request.params.app)
        const sdp = readSdp(Buffer.isBuffer(request.body) ? request.body : undefined)
        const started = await startCall(calls, request, { sdp, ...(model === undefined ? {} : { model }) })
        const { restarts } = calls.reach(started.id, callerOf(request))
        reply.header('location', `${WHIP_SESSIONS}/${started.id}`).header('etag', entityTag(restarts))
        reply.header('accept-patch', SDP_FRAGMENT)
        return reply.code(201).header('content-type', SDP).send(Buffer.from(started.sdp))
      })
      scope.get(url, sendNothing)
      refuseOtherMethods(scope, url, 'GET', 'HEAD', 'POST')
    }
  })
}

/** What GET is for is not said yet (RFC 9725 §4.1): success, and no content. */
async function sendNothing(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return reply.code(204).send()
}

async function demandSdp(request: FastifyRequest): Promise<void> {
  if (mediaTypeOf(request) === SDP) return
  throw new EdgeError('unsupported_media_type', `Send the SDP offer as ${SDP}.`)
}
