/** What operators see of the calls: `GET /transceiver/sessions` on the admin listener. */

import type { FastifyInstance } from 'fastify'
import type { Sessions } from './sessions.ts'

/** The most sessions one answer lists. */
const PAGE = 1000

/** Adds the route. The list has no call id in it: whoever may look must not thereby be able to hang up. */
export function registerSessionList(admin: FastifyInstance, sessions: Sessions): void {
  admin.get('/transceiver/sessions', async () => {
    const now = performance.now()
    const list = []
    for (const session of sessions) {
      if (list.length === PAGE) break
      const { stats } = session.media
      list.push({
        session: session.id,
        caller: session.caller.name,
        state: session.state,
        client: session.ice.selected?.client.toString() ?? null,
        ageMs: Math.round(now - session.startedAt),
        packetsReceived: stats.packetsReceived,
        packetsSent: stats.packetsSent,
        lost: stats.lost,
        roundTripMs: stats.roundTripMs ?? null,
      })
    }
    return { total: sessions.size, bound: sessions.routes.size, sessions: list }
  })
}
