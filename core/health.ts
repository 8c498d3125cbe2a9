/** `/livez` and `/readyz`: is the process alive, and may new work be sent to it. */

import type { FastifyInstance } from 'fastify'

/** Where the process is in its life. */
export type HealthState = 'starting' | 'ready' | 'draining' | 'closed'

/** The state that the two answers speak of; the host sets it. */
export class Health {
  state: HealthState = 'starting'
}

/** Adds both routes. Readiness is 503 unless `ready`; liveness is 200 for as long as anything answers. */
export function addHealth(instance: FastifyInstance, health: Health): void {
  const noStore = { 'cache-control': 'no-store' }
  instance.get('/livez', async (_request, reply) => reply.headers(noStore).send({ status: 'alive' }))
  instance.get('/readyz', async (_request, reply) => {
    if (health.state !== 'ready') reply.code(503).header('retry-after', '5')
    return reply.headers(noStore).send({ status: health.state })
  })
}
