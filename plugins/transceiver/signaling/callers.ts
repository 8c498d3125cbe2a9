/** Who makes a request, and what is bound to what they sent: an API key, or a token in its place. */

import type { FastifyRequest } from 'fastify'
import { type Context, EdgeError, givenKey, type JsonObject, type Principal } from '../../../core/index.ts'
import { type OpenedToken, type SealedTokens, TOKEN_PREFIX } from './sealed-tokens.ts'

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

/** Who sends an API key, or what was given to one; both throw EdgeError `unauthorized`. */
export type Authenticator = Pick<Context, 'authenticate' | 'principalOf'>

/** Makes the one for a listener. A token lasts no longer than the key that it was made with. */
export function callersBy(authenticator: Authenticator, tokens: SealedTokens): Callers {
  const fromToken = (request: FastifyRequest, { name, id, session }: OpenedToken): Caller => ({
    principal: { ...authenticator.principalOf(request, name), clientSecret: id },
    bound: session,
  })
  const identify = async (request: FastifyRequest): Promise<Caller> => {
    const path = sessionIn(request)
    if (path !== undefined) return fromToken(request, await tokens.open('session', path))
    const given = givenKey(request)
    if (!given?.startsWith(TOKEN_PREFIX)) return { principal: authenticator.authenticate(request) }
    return fromToken(request, await tokens.open('client_secret', given))
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

/** The session that a path names: a sealed token, so whoever knows it has been let in. */
function sessionIn({ params }: FastifyRequest): string | undefined {
  const isNamed = typeof params === 'object' && params !== null && 'session' in params
  return isNamed && typeof params.session === 'string' ? params.session : undefined
}
