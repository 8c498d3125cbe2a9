/**
 * `POST /v1/realtime/client_secrets`, and the older `/v1/realtime/sessions`: what a server with an API key gets for one
 * browser. A client secret stands in a key's place to start calls and to ask about those; it carries the session that the
 * server wants, may be used until it expires, and no list of them is kept.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EdgeError, type JsonObject } from '../../../core/index.ts'
import { takeJsonText } from './bodies.ts'
import { callerOf } from './by-call-id.ts'
import type { Callers } from './callers.ts'
import { checkObject, isJsonObject, readObject } from './json.ts'
import type { RateHook } from './limits.ts'
import { refuseOtherMethods } from './other-methods.ts'
import type { SealedTokens } from './sealed-tokens.ts'
import { sendJson } from './send-json.ts'
import { askWho, expectCallers } from './start-call.ts'

/** How long a client secret lives unless it is said, and at least and at most, in seconds. */
const LIFETIME = Object.freeze({ usual: 600, least: 10, most: 7200 })

/** The largest session that a client secret carries, as JSON, in bytes: it travels in a header. */
const MAX_BOUND_SESSION = 16_384

const CURRENT = '/v1/realtime/client_secrets'
const LEGACY = '/v1/realtime/sessions'

/** What the routes stand on. */
export interface ClientSecretOptions {
  readonly callers: Callers
  readonly tokens: SealedTokens
  readonly limit: RateHook
}

/** Adds the routes to a scope of the public listener. */
export async function registerClientSecrets(
  http: FastifyInstance,
  { callers, tokens, limit }: ClientSecretOptions,
): Promise<void> {
  await http.register(async (scope) => {
    expectCallers(scope)
    takeJsonText(scope)
    const onRequest = askWho((request) => callers.identifyByKey(request), limit)
    const make = async (request: FastifyRequest, session: JsonObject, seconds: number) => {
      const size = Buffer.byteLength(JSON.stringify(session))
      if (size > MAX_BOUND_SESSION) {
        const message = `The session has ${size} bytes; a client secret carries at most ${MAX_BOUND_SESSION}.`
        throw new EdgeError('bad_request', message, { param: 'session' })
      }
      return tokens.seal('client_secret', { name: callerOf(request).name, session }, seconds)
    }
    scope.post(CURRENT, { onRequest }, async (request, reply) => {
      const body = readBody(request.body)
      const session = body.session === undefined ? {} : checkObject(body.session, 'session')
      const { value, id, expiresAt } = await make(request, session, readLifetime(body.expires_after))
      const shown = { type: 'realtime', ...session, object: 'realtime.session', id: `sess_${id}` }
      return sendJson(reply, { value, expires_at: expiresAt, session: shown })
    })
    scope.post(LEGACY, { onRequest }, async (request, reply) => {
      const { client_secret: asked, ...session } = readBody(request.body)
      const seconds = readLifetime(isJsonObject(asked) ? asked.expires_after : undefined)
      const { value, id, expiresAt } = await make(request, session, seconds)
      const shown = { ...session, object: 'realtime.session', id: `sess_${id}` }
      return sendJson(reply, { ...shown, client_secret: { value, expires_at: expiresAt } })
    })
    for (const url of [CURRENT, LEGACY]) refuseOtherMethods(scope, url, 'POST')
  })
}

function readBody(body: unknown): JsonObject {
  return typeof body === 'string' && body.trim() !== '' ? readObject(body, 'body') : {}
}

function readLifetime(wanted: unknown): number {
  if (wanted === undefined || wanted === null) return LIFETIME.usual
  const { anchor = 'created_at', seconds = LIFETIME.usual } = checkObject(wanted, 'expires_after')
  if (anchor !== 'created_at') {
    const message = 'A client secret’s life is counted from "created_at" alone.'
    throw new EdgeError('bad_request', message, { param: 'expires_after.anchor' })
  }
  const { least, most } = LIFETIME
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= least && seconds <= most)
    return seconds
  throw new EdgeError('bad_request', `A client secret lives for ${least} to ${most} whole seconds.`, {
    param: 'expires_after.seconds',
  })
}
