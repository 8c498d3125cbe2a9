/** Puts all of signaling on the public listener. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { randomBytes } from '../../../core/index.ts'
import { type CallDoor, callerOf } from './by-call-id.ts'
import { registerCallRoutes } from './call-routes.ts'
import type { CallService } from './call-service.ts'
import { type Authenticator, callersBy } from './callers.ts'
import { registerCalls } from './calls.ts'
import { registerClientSecrets } from './client-secrets.ts'
import { type Limits, limitRates } from './limits.ts'
import { registerPipecat } from './pipecat.ts'
import { SealedTokens } from './sealed-tokens.ts'
import { registerWhip } from './whip.ts'

/** What signaling stands on. */
export interface SignalingOptions {
  readonly calls: CallService
  /** Knows the API keys. */
  readonly authenticator: Authenticator
  readonly limits: Limits
  /** What client secrets are sealed with; undefined for a secret of this process's own. */
  readonly clientSecretKeys?: readonly string[]
  /** Passes requests for other owners' calls on. */
  readonly passOn?: CallDoor['passOn']
}

/** Adds every route to a scope of the public listener. */
export async function registerSignaling(http: FastifyInstance, options: SignalingOptions): Promise<void> {
  const { calls, authenticator, limits, clientSecretKeys, passOn } = options
  const [first = Buffer.from(randomBytes(32)).toString('hex'), ...others] = clientSecretKeys ?? []
  const tokens = new SealedTokens([first, ...others])
  const callers = callersBy(authenticator, tokens)
  const limit = await limitRates(http, limits, callerOf)
  const shared = { calls, callers, limit }
  await registerCalls(http, shared)
  await registerWhip(http, shared)
  const identify = async (request: FastifyRequest) => (await callers.identify(request)).principal
  const door: CallDoor = { identify, limit, ...(passOn ? { passOn } : {}) }
  await registerPipecat(http, { ...shared, tokens, door })
  await registerClientSecrets(http, { callers, tokens, limit })
  await registerCallRoutes(http, { calls, door })
}
