/** The relay's metrics: observed from counters when they are collected, never touched by a packet. */

import { type Context, Observed } from '../../core/index.ts'
import { flat } from './cluster-sockets.ts'
import { DROP_REASONS } from './pure/drop-reasons.ts'
import type { SpanBudget } from './pure/span-budget.ts'
import type { Recovery } from './recovery.ts'
import type { Relay } from './relay.ts'
import type { RelayWorker } from './relay-worker.ts'
import type { RelaySocket } from './sockets.ts'
import { observeWorkers } from './worker-metrics.ts'

/** Registers the metrics; the README lists them with their units. They are read once more when the process closes. */
export function observeRelay(
  meter: Context['meter'],
  { workers, recovery, spans }: Pick<Relay, 'workers' | 'recovery' | 'spans'>,
): void {
  const observed = new Observed(meter, 'earshot.relay')
  observeTraffic(observed, workers)
  observeFlows(observed, workers)
  observeSockets(observed, workers)
  observeWorkers(observed, workers)
  observeSpans(observed, spans.budget, workers)
  if (recovery) observeLookUps(observed, recovery)
}

type Workers = readonly RelayWorker[]

/** Of all workers together. */
function sum(workers: Workers, of: (worker: RelayWorker) => number): number {
  return workers.reduce((total, worker) => total + of(worker), 0)
}

type Count = 'packetsUp' | 'packetsDown' | 'bytesUp' | 'bytesDown' | 'decodes' | 'recoveries'

/** What all workers counted. */
function counted(workers: Workers, name: Count): number {
  return sum(workers, ({ state }) => state.counters[name])
}

function observeTraffic(observed: Observed, workers: Workers): void {
  observed.counter('packets', '{packet}', 'Datagrams forwarded', (result) => {
    result.observe(counted(workers, 'packetsUp'), { direction: 'up' })
    result.observe(counted(workers, 'packetsDown'), { direction: 'down' })
  })
  observed.counter('bytes', 'By', 'Payload forwarded, without framing', (result) => {
    result.observe(counted(workers, 'bytesUp'), { direction: 'up' })
    result.observe(counted(workers, 'bytesDown'), { direction: 'down' })
  })
  observed.counter('drops', '{packet}', 'Datagrams dropped, by reason', (result) => {
    for (const reason of DROP_REASONS) {
      const dropped = sum(workers, ({ state }) => state.counters.drops.of(reason))
      result.observe(dropped, { reason })
    }
  })
}

function observeFlows(observed: Observed, workers: Workers): void {
  observed.upDownCounter('flows', '{flow}', 'Flows in the table, by state', (result) => {
    for (const state of ['confirmed', 'unconfirmed'] as const) {
      const open = sum(workers, (worker) => worker.state.flows[state])
      result.observe(open, { state })
    }
  })
  observed.counter('evictions', '{flow}', 'Unconfirmed flows pushed out of a full table', (result) =>
    result.observe(sum(workers, ({ state }) => state.flows.evicted)),
  )
  observed.counter('decodes', '{ufrag}', 'Ufrags decoded', (result) =>
    result.observe(counted(workers, 'decodes')),
  )
  observed.counter('recoveries', '{route}', 'Routes taken from the recovery store', (result) =>
    result.observe(counted(workers, 'recoveries')),
  )
}

function observeLookUps(observed: Observed, { counters }: Recovery): void {
  observed.counter('look_ups', '{lookup}', 'Recovery look-ups, by result', (result) => {
    for (const [name, count] of Object.entries(counters)) result.observe(count, { result: name })
  })
}

function observeSpans(observed: Observed, budget: SpanBudget, workers: Workers): void {
  const description = 'Spans that were not made, so that a flood fills no collector'
  observed.counter('spans.left_out', '{span}', description, (result) => {
    for (const kind of ['opened', 'confirmed', 'recovered', 'ended'] as const) {
      const lost = kind === 'recovered' ? 0 : sum(workers, ({ thread }) => thread?.lost(kind) ?? 0)
      result.observe(budget.leftOut[kind] + lost, { kind })
    }
  })
}

function observeSockets(observed: Observed, workers: Workers): void {
  observed.counter('socket.datagrams', '{packet}', 'Datagrams received and sent, by socket', (result) => {
    for (const [socket, sockets] of byAddress(workers)) {
      result.observe(total(sockets, 'received'), { socket, direction: 'in' })
      result.observe(total(sockets, 'sent'), { socket, direction: 'out' })
    }
  })
  const lost = 'Datagrams that the socket lost, by socket and kind'
  observed.counter('socket.errors', '{packet}', lost, (result) => {
    for (const [socket, sockets] of byAddress(workers)) {
      result.observe(total(sockets, 'truncated'), { socket, kind: 'truncated' })
      result.observe(total(sockets, 'receiveErrors'), { socket, kind: 'receive' })
      result.observe(total(sockets, 'sendErrors'), { socket, kind: 'send' })
    }
  })
}

/** Workers share their public addresses. */
function byAddress(workers: Workers): Map<string, RelaySocket[]> {
  const all = workers.flatMap(({ sockets }) => [
    ...sockets.publics,
    sockets.upstream,
    ...flat(sockets.relays),
  ])
  return Map.groupBy(all, ({ local }) => local.toString())
}

function total(sockets: readonly RelaySocket[], name: keyof RelaySocket['counters']): number {
  return sockets.reduce((sum, { counters }) => sum + counters[name], 0)
}
