/** Signaling as a whole, on a listener as the host makes it, for tests of its routes. */

import type { FastifyInstance } from 'fastify'
import type { CallService } from '../../../../../plugins/transceiver/signaling/call-service.ts'
import { callersBy } from '../../../../../plugins/transceiver/signaling/callers.ts'
import {
  registerSignaling,
  type SignalingOptions,
} from '../../../../../plugins/transceiver/signaling/register.ts'
import { SealedTokens } from '../../../../../plugins/transceiver/signaling/sealed-tokens.ts'
import type { StartOptions } from '../../../../../plugins/transceiver/signaling/start-call.ts'
import { authenticator, listener } from './support.ts'

/** The secret of these listeners; another process with it takes their client secrets. */
export const SECRET = 'a-secret-for-client-secrets-of-tests'

/** A listener with all routes on it. Close it. */
export async function allRoutes(
  calls: CallService,
  changes: Partial<SignalingOptions> = {},
  listening: Parameters<typeof listener>[0] = {},
): Promise<FastifyInstance> {
  const http = await listener(listening)
  await registerSignaling(http, {
    calls,
    authenticator,
    limits: { requestsPerMinute: 1000, keys: {} },
    clientSecretKeys: [SECRET],
    ...changes,
  })
  return http
}

/** What the routes that start calls need, without limits. */
export function startOptions(calls: CallService): StartOptions {
  return { calls, callers: callersBy(authenticator, new SealedTokens([SECRET])), limit: async () => {} }
}
