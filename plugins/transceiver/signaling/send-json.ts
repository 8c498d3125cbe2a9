/** Answers in JSON. */

import type { FastifyReply } from 'fastify'

/** Answers 200 with what is for this caller alone: nobody may keep it. */
export function sendJson(reply: FastifyReply, value: object): FastifyReply {
  return reply.code(200).header('cache-control', 'no-store').type('application/json').send(value)
}
