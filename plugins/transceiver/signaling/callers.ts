/** Who makes a request, and what is bound to what they sent: an API key, or a client secret in its place. */

import type { FastifyRequest } from 'fastify'
import { EdgeError, givenKey, type JsonObject, type Principal } from '../../../core/index.ts'
import { type SealedTokens, TOKEN_PREFIX } from './sealed-tokens.ts'

/** Who makes a request. */
export interface Caller {
  readonly principal: Principal
  /** The session that the client secret carries; undefined where it was an API key. */
  readonly bound?: JsonObject
}

/** Tells callers apart. */
export interface Callers {
  /** Rejects with EdgeError `unauthorized`. */
  identify(request: FastifyRequest): Promise<Caller>
  /** For what only a key may do. Rejects with EdgeError `unauthorized`, or `forbidden` for a client secret. */
  identifyByKey(request: FastifyRequest): Promise<Caller>
}

/** Makes the one for a listener; `authenticate` knows the API keys. */
export function callersBy(
  authenticate: (request: FastifyRequest) => Principal,
  tokens: SealedTokens,
): Callers {
  const identify = async (request: FastifyRequest): Promise<Caller> => {
    const given = givenKey(request)
    if (!given?.startsWith(TOKEN_PREFIX)) return { principal: authenticate(request) }
    const { name, id, session } = await tokens.open('client_secret', given)
    return { principal: { name, clientSecret: id }, bound: session }
  }
  return {
    identify,
    async identifyByKey(request) {
      const caller = await identify(request)
      if (caller.bound === undefined) return caller
      throw new EdgeError('forbidden', 'a client secret opens no others: send an API key')
    },
  }
}
