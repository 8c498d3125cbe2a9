/** `GET /relay/flows` on the admin listener: the flow table, in pages. */

import { type Address, type Context, type Static, Type } from '../../core/index.ts'
import type { FlowView } from './pure/flow-view.ts'
import type { HopTable } from './pure/hop-table.ts'
import type { RelayWorker } from './relay-worker.ts'

const Query = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  cursor: Type.Integer({ minimum: 0, default: 0 }),
})

/** A cursor is a worker's number and a flow's within it. */
const FLOWS = 2 ** 24

/**
 * Adds the route. `limit` is how many flows a page has at most, `cursor` is the previous page's `next`; a page without
 * `next` is the last. Flows that come and go meanwhile may be missed.
 */
export function serveFlows(
  admin: Context['admin'],
  { workers }: { readonly workers: readonly RelayWorker[] },
): void {
  admin.get<{ Querystring: Static<typeof Query> }>(
    '/relay/flows',
    { schema: { querystring: Query } },
    async ({ query }) => {
      const now = Math.trunc(performance.now())
      const { flows, next } = page(workers, query.cursor, query.limit)
      const alive = flows.filter(({ flow }) => flow.endsInMs(now) > 0)
      return {
        confirmed: workers.reduce((sum, { state }) => sum + state.flows.confirmed, 0),
        unconfirmed: workers.reduce((sum, { state }) => sum + state.flows.unconfirmed, 0),
        flows: alive.map((one) => describe(now, one)),
        ...(next === undefined ? {} : { next }),
      }
    },
  )
}

/** One page, from the workers one after another. */
function page(workers: readonly RelayWorker[], cursor: number, limit: number): Page {
  const flows: Page['flows'][number][] = []
  let from = cursor % FLOWS
  for (let number = Math.floor(cursor / FLOWS); number < workers.length; number++) {
    const { state } = workers[number]!
    const found = state.flows.page(from, limit - flows.length)
    flows.push(...found.flows.map((flow) => ({ flow, ...wayOf(state.hops, flow.local) })))
    if (found.next !== undefined) return { flows, next: number * FLOWS + found.next }
    from = 0
  }
  return { flows, next: undefined }
}

function wayOf(hops: HopTable, local: number): Way {
  return { local: hops.proxyOf(local), relay: hops.isHop(local) ? hops.relayOf(local) : undefined }
}

/** How a flow's packets come. */
interface Way {
  /** What its client sends to. */
  readonly local: Address
  /** The relay of another cluster that passes them on, if one does. */
  readonly relay: Address | undefined
}

interface Page {
  readonly flows: readonly ({ readonly flow: FlowView } & Way)[]
  readonly next: number | undefined
}

function describe(now: number, { flow, local, relay }: Page['flows'][number]): object {
  return {
    client: flow.client.toString(),
    local: local.toString(),
    ...(relay ? { relay: relay.toString() } : {}),
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
