/**
 * Candidates as pipecat's small WebRTC transport trickles them: `PATCH /api/offer` with the call's id as `pc_id`. Our side
 * is ICE-lite and its answers complete, so they are not needed; whether there is such a call is answered.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError } from '../../../core/index.ts'
import { alike, byCallId, type CallRoutesOptions, callerOf } from './by-call-id.ts'
import { readBody } from './pipecat-later-offers.ts'
import { OFFER_PATHS } from './pipecat-paths.ts'

/** Adds the routes to a scope with the hooks of routes by call id. */
export function registerCandidates(scope: FastifyInstance, { calls, door }: CallRoutesOptions): void {
  const hooks = byCallId(door, idIn)
  for (const url of OFFER_PATHS) {
    scope.patch(url, hooks, async (request: FastifyRequest, reply: FastifyReply) => {
      alike(() => calls.reach(idIn(request), callerOf(request)))
      return reply
        .code(200)
        .header('content-type', 'application/json')
        .send(Buffer.from('{"status":"success"}'))
    })
  }
}

function idIn(request: FastifyRequest): string {
  const { pc_id: id } = readBody(request)
  if (typeof id === 'string') return id
  throw new EdgeError('bad_request', 'The body names no call: its pc_id is no text.', { param: 'pc_id' })
}
