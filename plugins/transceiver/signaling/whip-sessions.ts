/**
 * WHIP sessions (RFC 9725 §4.2 to §4.4) at `/whip/s/{id}`: PATCH for trickled candidates and ICE restarts, DELETE for the
 * end. A session's entity tag names its ICE credentials, so that nothing is done to others than a client means.
 *
 * Our side is ICE-lite and its answers complete: trickled candidates are read and not needed.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError } from '../../../core/index.ts'
import { mediaTypeOf } from './bodies.ts'
import { alike, byCallId, type CallRoutesOptions, callerOf, forgetType } from './by-call-id.ts'
import { refuseOtherMethods } from './other-methods.ts'
import type { CallIce, ReachedCall } from './reached-call.ts'
import { readSdpFragment, SDP_FRAGMENT, writeSdpFragment } from './sdp-fragment.ts'

/** The path that sessions are below. */
export const WHIP_SESSIONS = '/whip/s'

interface SessionRoute {
  Params: { id: string }
}

/** Adds the routes to a scope with the hooks of routes by call id. */
export function registerWhipSessions(scope: FastifyInstance, { calls, door }: CallRoutesOptions): void {
  const url = `${WHIP_SESSIONS}/:id`
  const hooks = byCallId(door)
  const anyBody = { ...hooks, onRequest: [...hooks.onRequest, forgetType] }
  const reach = (request: FastifyRequest<SessionRoute>) =>
    alike(() => calls.reach(request.params.id, callerOf(request)))
  scope.patch<SessionRoute>(
    url,
    { ...hooks, onRequest: [...hooks.onRequest, demandFragment] },
    async (request, reply) => patch(reach(request), request, reply),
  )
  scope.delete<SessionRoute>(url, anyBody, async (request, reply) => {
    alike(() => calls.hangUp(request.params.id, callerOf(request)))
    return reply.code(200).send()
  })
  scope.get<SessionRoute>(url, hooks, async (request, reply) => {
    reply.header('etag', entityTag(reach(request).restarts))
    return reply.code(204).send()
  })
  refuseOtherMethods(scope, url, 'GET', 'HEAD', 'PATCH', 'DELETE')
}

/** A strong entity tag (RFC 9110 §8.8.3). */
export function entityTag({ tag }: CallIce): string {
  return `"${tag}"`
}

function patch(
  { restarts, candidates, mid }: ReachedCall,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  demandTag(request, entityTag(restarts))
  const { credentials } = readSdpFragment(textOf(request.body))
  if (!credentials || restarts.isCurrent(credentials)) return reply.code(204).send()
  const fragment = writeSdpFragment(restarts.restart(credentials), { candidates, mid })
  reply.header('etag', entityTag(restarts)).header('content-type', SDP_FRAGMENT)
  return reply.code(200).send(Buffer.from(fragment))
}

/** One widely used client says `ETag` where it means `If-Match`; it is understood. */
function demandTag({ headers }: FastifyRequest, current: string): void {
  const { 'if-match': match = headers.etag } = headers
  if (typeof match !== 'string' || match.trim() === '') {
    const message = 'Send If-Match with the ETag of the session, or with * to restart ICE.'
    throw new EdgeError('precondition_required', message, { param: 'If-Match' })
  }
  const tags = match.split(',').map((tag) => tag.trim())
  if (tags.includes('*') || tags.includes(current)) return
  const message = 'The session has another ETag by now: its ICE has been restarted.'
  throw new EdgeError('precondition_failed', message, { param: 'If-Match' })
}

async function demandFragment(request: FastifyRequest): Promise<void> {
  if (mediaTypeOf(request) === SDP_FRAGMENT) return
  throw new EdgeError('unsupported_media_type', `Send candidates and ICE restarts as ${SDP_FRAGMENT}.`)
}

function textOf(body: unknown): string {
  if (!Buffer.isBuffer(body)) return ''
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    throw new EdgeError('bad_request', 'The SDP fragment is not valid UTF-8.', { cause })
  }
}
