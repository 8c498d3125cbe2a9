/**
 * The calls API in OpenAI Realtime's shape (DESIGN §10): `POST /v1/realtime/calls` starts a call from an SDP offer,
 * `POST …/{id}/hangup` and `DELETE …/{id}` end it. Nothing of a request is read before its caller is known.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError, type Principal } from '../../../core/index.ts'
import { type CallRequest, type CallService, callNotFound } from './call-service.ts'

/** The path that starts calls; a call's own path is below it. */
export const CALLS_PATH = '/v1/realtime/calls'

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

interface CallRoute {
  Params: { id: string }
}

/** Adds the routes to a scope of the public listener. */
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

  await http.register(async (scope) => {
    scope.decorateRequest(CALLER, null)
    scope.removeAllContentTypeParsers()
    // Clients send a hang-up with an empty JSON body, or with none, or with a form: whatever it is, it says nothing.
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null, null))
    const end = async (request: FastifyRequest<CallRoute>, reply: FastifyReply) =>
      hangUp(calls, request, reply)
    scope.post<CallRoute>(`${CALLS_PATH}/:id/hangup`, { onRequest: [identify, forgetType] }, end)
    refuseOtherMethods(scope, `${CALLS_PATH}/:id/hangup`, 'POST')
    scope.delete<CallRoute>(`${CALLS_PATH}/:id`, { onRequest: [identify, forgetType] }, end)
    refuseOtherMethods(scope, `${CALLS_PATH}/:id`, 'DELETE')
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

/** Fastify refuses a Content-Type that is empty, as Go sends it, or no media type, whatever parser there is for all. */
async function forgetType(request: FastifyRequest): Promise<void> {
  delete request.raw.headers['content-type']
}

function hangUp(calls: CallService, request: FastifyRequest<CallRoute>, reply: FastifyReply) {
  try {
    calls.hangUp(request.params.id, request.getDecorator<Principal>(CALLER))
  } catch (error) {
    throw error instanceof EdgeError && error.code === 'call_not_found' ? callNotFound() : error
  }
  return reply.code(200).header('content-type', 'application/json').send(Buffer.from('{}'))
}

function refuseOtherMethods(scope: FastifyInstance, url: string, allowed: string): void {
  // OPTIONS stays with the listener's CORS.
  const method = scope.supportedMethods.filter((name) => name !== allowed && name !== 'OPTIONS')
  const allow = `${allowed}, OPTIONS`
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allow)
    throw new EdgeError('method_not_allowed', `${request.method} is not served here. Use ${allowed}.`)
  }
  scope.route({ method, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse })
}
