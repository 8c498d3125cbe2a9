/** Every error answer has one shape: `{ error: { message, type, code, param } }`, and tells nothing it should not. */

import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isObject } from './config/pointer.ts'
import { EdgeError, ERROR_CODES, type ErrorCode } from './errors.ts'
import { clientIp } from './http-proxies.ts'

/** The body of an error answer. */
export interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly type: 'invalid_request_error' | 'rate_limit_error' | 'server_error'
    readonly code: ErrorCode
    readonly param: string | null
  }
}

/** Seconds after which a client may try again, where the handler has not said. */
const RETRY_AFTER: Readonly<Record<number, string>> = { 429: '1', 503: '5' }

/** What Fastify's own errors mean in our table, by HTTP status. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
}

/** Nothing has failed where there is no room; a crowd of callers must not fill the log with stacks. */
const NO_ROOM: ReadonlySet<ErrorCode> = new Set(['too_many_calls', 'draining'])

/** Answers every error, and every path that does not exist, in this shape. */
export function answerErrors(instance: FastifyInstance): void {
  instance.setErrorHandler((error, request, reply) => sendError(error, request, reply))
  instance.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?')[0]
    return sendError(new EdgeError('not_found', `there is no ${request.method} ${path}`), request, reply)
  })
}

/** Sends any thrown value as an answer. What is not our client's fault is logged; its details go no further. */
export function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toEdgeError(thrown)
  const { status } = error
  const { method, routeOptions } = request
  const entry = { err: thrown, method, route: routeOptions.url, ip: clientIp(request), status }
  if (error.source !== 'client' && !NO_ROOM.has(error.code)) request.log.error(entry, 'request failed')
  else request.log.debug({ ...entry, err: undefined, code: error.code }, 'request refused')
  const retry = RETRY_AFTER[status]
  if (retry !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', retry)
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(status).type('application/json').send(errorBody(error))
}

/** The body for an error. */
export function errorBody({ code, source, status, message, param }: EdgeError): ErrorBody {
  const hidden = source === 'operator' || code === 'internal'
  const type =
    status === 429 ? 'rate_limit_error' : source === 'client' ? 'invalid_request_error' : 'server_error'
  return { error: { message: hidden ? 'something went wrong on our side' : message, type, code, param } }
}

/** Any thrown value as an error of the table; what is not known becomes `internal`. */
export function toEdgeError(thrown: unknown): EdgeError {
  if (thrown instanceof EdgeError) return thrown
  if (isFastifyError(thrown)) {
    const status = thrown.statusCode ?? 500
    const code = BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'bad_request' : undefined)
    const param = thrown.validation?.[0]?.instancePath.slice(1).replaceAll('/', '.')
    if (code !== undefined) {
      return new EdgeError(code, plain(thrown), { cause: thrown, ...(param ? { param } : {}) })
    }
  }
  return new EdgeError('internal', 'internal error', { cause: thrown })
}

function isFastifyError(value: unknown): value is FastifyError {
  return value instanceof Error && 'statusCode' in value && typeof value.statusCode === 'number'
}

function plain({ code, message }: FastifyError): string {
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'this content type is not served here'
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 'the body is too large'
  return message
}

/** How long the answer to what is no HTTP may take to arrive, in milliseconds. */
const LINGER_MS = 1000

/** Answers a request that Node could not even parse, then closes the connection, whether or not the other side does. */
export function answerBrokenRequest(cause: Error, socket: Socket): void {
  if (!socket.writable || (isObject(cause) && cause.code === 'ECONNRESET')) {
    socket.destroy()
    return
  }
  const [status, error] = brokenRequest('code' in cause ? String(cause.code) : '')
  const body = JSON.stringify(errorBody(error))
  // Not imported: as a module Node's HTTP brings fetch and WebSockets along, and plugins' door leads past here.
  const { STATUS_CODES } = process.getBuiltinModule('node:http')
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

function brokenRequest(code: string): [number, EdgeError] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, new EdgeError('bad_request', 'the headers are too large')]
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return [
      ERROR_CODES.request_timeout.status,
      new EdgeError('request_timeout', 'the request came too slowly'),
    ]
  }
  return [400, new EdgeError('bad_request', 'this is not HTTP')]
}
