/** `GET /relay/flows` on the admin listener: the flow table, in pages. */

import { type Context, type Static, Type } from '../../core/index.ts'
import type { FlowView } from './pure/flow-view.ts'
import type { RelayState } from './pure/relay-state.ts'

const Query = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  cursor: Type.Integer({ minimum: 0, default: 0 }),
})

/**
 * Adds the route. `limit` is how many flows a page has at most, `cursor` is the previous page's `next`; a page without
 * `next` is the last. Flows that come and go meanwhile may be missed.
 */
export function serveFlows(admin: Context['admin'], state: RelayState): void {
  admin.get<{ Querystring: Static<typeof Query> }>(
    '/relay/flows',
    { schema: { querystring: Query } },
    async ({ query }) => {
      const now = Math.trunc(performance.now())
      const { flows, next } = state.flows.page(query.cursor, query.limit)
      const alive = flows.filter((flow) => flow.endsInMs(now) > 0)
      return {
        confirmed: state.flows.confirmed,
        unconfirmed: state.flows.unconfirmed,
        flows: alive.map((flow) => describe(now, flow, state)),
        ...(next === undefined ? {} : { next }),
      }
    },
  )
}

function describe(now: number, flow: FlowView, { locals }: RelayState): object {
  return {
    client: flow.client.toString(),
    local: locals[flow.local]!.toString(),
    confirmed: flow.isConfirmed,
    ageMs: flow.ageMs(now),
    endsInMs: flow.endsInMs(now),
    routes: flow.routes.map((route) => ({
      transceiver: route.transceiver.toString(),
      state: route.state,
      ...(route.state === 'live' ? { lastSuccessAgoMs: route.sinceSuccessMs(now) } : {}),
    })),
    packets: { up: flow.packetsUp, down: flow.packetsDown },
    bytes: { up: flow.bytesUp, down: flow.bytesDown },
  }
}
