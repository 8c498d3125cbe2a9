/**
 * The calls API in OpenAI Realtime's shape (DESIGN §10): `POST /v1/realtime/calls` starts a call from an SDP offer; what
 * is asked of a call by its id is in call-routes.ts. Nothing of a request is read before its caller is known.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError, type Principal } from '../../../core/index.ts'
import { CALLS_PATH } from './call-routes.ts'
import type { CallRequest, CallService } from './call-service.ts'
import { refuseOtherMethods } from './other-methods.ts'

const SDP = 'application/sdp'
const CALLER = 'caller'
const MAX_MODEL = 256
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** What the routes stand on. */
export interface CallsOptions {
  readonly calls: CallService
  /** Throws EdgeError `unauthorized`. */
  authenticate(request: FastifyRequest): Principal
}

interface StartRoute {
  Body: Buffer
  Querystring: { model?: string | string[] }
}

/** Adds the route to a scope of the public listener. */
export async function registerCalls(http: FastifyInstance, options: CallsOptions): Promise<void> {
  const { calls, authenticate } = options
  const identify = async (request: FastifyRequest) => request.setDecorator(CALLER, authenticate(request))

  await http.register(async (scope) => {
    scope.decorateRequest(CALLER, null)
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(SDP, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.post<StartRoute>(CALLS_PATH, { onRequest: [identify, demandSdp] }, (request, reply) =>
      start(calls, request, reply),
    )
    refuseOtherMethods(scope, CALLS_PATH, 'POST')
  })
}

async function start(calls: CallService, request: FastifyRequest<StartRoute>, reply: FastifyReply) {
  const caller = request.getDecorator<Principal>(CALLER)
  const { id, sdp } = await calls.create(toCallRequest(request, caller))
  // A client that has gone while the call was made will never hear of its id: nothing else would end it soon.
  if (request.raw.socket.destroyed) calls.hangUp(id, caller)
  reply.code(201).header('location', `${CALLS_PATH}/${id}`).header('content-type', SDP)
  // As bytes: Fastify then states their length and leaves the content type as it is. Small clients need both.
  return reply.send(Buffer.from(sdp))
}

function toCallRequest(request: FastifyRequest<StartRoute>, caller: Principal): CallRequest {
  const model = readModel(request.query.model)
  const { traceparent } = request.headers
  return {
    sdp: readSdp(request.body),
    caller,
    ...(model === undefined ? {} : { model }),
    ...(typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? { traceparent } : {}),
  }
}

function readSdp(body: Buffer | undefined): string {
  if (!body || body.length === 0) {
    throw new EdgeError('invalid_sdp', 'The request has no body. Send the SDP offer as its body.')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    throw new EdgeError('invalid_sdp', 'The SDP offer is not valid UTF-8 (RFC 8866 §5).', { cause })
  }
}

function readModel(value: string | string[] | undefined): string | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string' && value.length <= MAX_MODEL) return value
  throw new EdgeError('bad_request', `Name one model, in at most ${MAX_MODEL} characters.`, {
    param: 'model',
  })
}

async function demandSdp(request: FastifyRequest): Promise<void> {
  const type = request.headers['content-type']
  if (type?.split(';', 1)[0]?.trim().toLowerCase() === SDP) return
  const sent = type === undefined ? 'The request has no Content-Type' : 'The request has another Content-Type'
  throw new EdgeError('unsupported_media_type', `${sent}. Send the SDP offer as ${SDP}.`)
}
