/** Answers the methods that a path does not serve: 405, and which ones it does; and OPTIONS, which asks just that. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError } from '../../../core/index.ts'

/** Refuses every method of `url` but these, before anything of the request is looked at (RFC 9110 §15.5.6). */
export function refuseOtherMethods(scope: FastifyInstance, url: string, ...allowed: readonly string[]): void {
  const method = scope.supportedMethods.filter((name) => !allowed.includes(name) && name !== 'OPTIONS')
  const allow = [...allowed, 'OPTIONS'].join(', ')
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allow)
    throw new EdgeError(
      'method_not_allowed',
      `${request.method} is not served here. Use ${allowed.join(' or ')}.`,
    )
  }
  scope.route({ method, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse })
  scope.route({
    method: 'OPTIONS',
    url,
    // Also where the listener's CORS has answered before any handler.
    onSend: async (_request, reply, payload) => {
      reply.header('allow', allow)
      return payload
    },
    handler: async (_request, reply) => reply.code(204).send(),
  })
}
