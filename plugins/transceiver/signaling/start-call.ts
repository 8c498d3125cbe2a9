/** What every way to start a call has in common: who calls, how often they may, and the call itself. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError, type JsonObject, readTraceparent } from '../../../core/index.ts'
import { CALLER, callerOf } from './by-call-id.ts'
import type { CallRequest, CallService, StartedCall } from './call-service.ts'
import type { Caller, Callers } from './callers.ts'
import { mergeObjects } from './json.ts'
import type { RateHook } from './limits.ts'

/** The media type of offers and answers. */
export const SDP = 'application/sdp'

const BOUND = 'boundSession'
const MAX_MODEL = 256

/** What the routes that start calls stand on. */
export interface StartOptions {
  readonly calls: CallService
  readonly callers: Callers
  /** Runs once the caller is known. */
  readonly limit: RateHook
}

/** What a client asks for. */
export type Wish = Pick<CallRequest, 'sdp' | 'model' | 'session' | 'channelId' | 'dialect' | 'replaces'>

/** The onRequest hooks of a route: who asks, then whether they ask too often. Nothing of the body is read before. */
export function askWho(
  identify: (request: FastifyRequest) => Promise<Caller>,
  limit: RateHook,
): ((request: FastifyRequest, reply: FastifyReply) => Promise<void>)[] {
  return [
    async (request) => {
      const { principal, bound } = await identify(request)
      request.setDecorator(CALLER, principal)
      request.setDecorator(BOUND, bound ?? null)
    },
    limit,
  ]
}

/** Prepares a scope for `askWho`. */
export function expectCallers(scope: FastifyInstance): void {
  scope.decorateRequest(CALLER, null)
  scope.decorateRequest(BOUND, null)
}

/** Starts the call. What the client wishes is laid over what its client secret carries. */
export async function startCall(
  calls: CallService,
  request: FastifyRequest,
  wish: Wish,
): Promise<StartedCall> {
  const caller = callerOf(request)
  const bound = request.getDecorator<JsonObject | null>(BOUND)
  const session = bound && wish.session ? mergeObjects(bound, wish.session) : (wish.session ?? bound)
  const model = wish.model ?? (typeof session?.model === 'string' ? readModel(session.model) : undefined)
  const { traceparent } = request.headers
  const started = await calls.create({
    sdp: wish.sdp,
    caller,
    ...(model === undefined ? {} : { model }),
    ...(session && Object.keys(session).length > 0 ? { session } : {}),
    ...(wish.channelId === undefined ? {} : { channelId: wish.channelId }),
    ...(wish.dialect === undefined ? {} : { dialect: wish.dialect }),
    ...(wish.replaces === undefined ? {} : { replaces: wish.replaces }),
    ...(typeof traceparent === 'string' && readTraceparent(traceparent) ? { traceparent } : {}),
  })
  // A client that has gone while the call was made will never hear of its id: nothing else would end it soon.
  if (request.raw.socket.destroyed) calls.hangUp(started.id, caller)
  return started
}

/** The one model that a query names; undefined for none. Throws EdgeError `bad_request`. */
export function readModel(value: unknown): string | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string' && value.length <= MAX_MODEL) return value
  throw new EdgeError('bad_request', `Name one model, in at most ${MAX_MODEL} characters.`, {
    param: 'model',
  })
}

/** An offer from bytes or text. Throws EdgeError `invalid_sdp`. */
export function readSdp(body: Buffer | undefined): string {
  if (!body || body.length === 0) {
    throw new EdgeError('invalid_sdp', 'The request has no body. Send the SDP offer as its body.')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    throw new EdgeError('invalid_sdp', 'The SDP offer is not valid UTF-8 (RFC 8866 §5).', { cause })
  }
}
