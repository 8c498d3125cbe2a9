/** The relay's metrics: observed from counters when they are collected, never touched by a packet. */

import type { Context } from '../../core/index.ts'
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
  observeTraffic(meter, workers)
  observeFlows(meter, workers)
  observeSockets(meter, workers)
  observeWorkers(meter, workers)
  observeSpans(meter, spans.budget, workers)
  if (recovery) observeLookUps(meter, recovery)
}

type Workers = readonly RelayWorker[]

/** Of all workers together. */
function sum(workers: Workers, of: (worker: RelayWorker) => number): number {
  return workers.reduce((total, worker) => total + of(worker), 0)
}

function observeTraffic(meter: Context['meter'], workers: Workers): void {
  const packets = meter.createObservableCounter('earshot.relay.packets', {
    description: 'Datagrams forwarded',
    unit: '{packet}',
  })
  const bytes = meter.createObservableCounter('earshot.relay.bytes', {
    description: 'Payload forwarded, without framing',
    unit: 'By',
  })
  const drops = meter.createObservableCounter('earshot.relay.drops', {
    description: 'Datagrams dropped, by reason',
    unit: '{packet}',
  })
  observe(meter, [packets, bytes, drops], (result) => {
    result.observe(
      packets,
      sum(workers, ({ state }) => state.counters.packetsUp),
      { direction: 'up' },
    )
    result.observe(
      packets,
      sum(workers, ({ state }) => state.counters.packetsDown),
      { direction: 'down' },
    )
    result.observe(
      bytes,
      sum(workers, ({ state }) => state.counters.bytesUp),
      { direction: 'up' },
    )
    result.observe(
      bytes,
      sum(workers, ({ state }) => state.counters.bytesDown),
      { direction: 'down' },
    )
    for (const reason of DROP_REASONS) {
      result.observe(
        drops,
        sum(workers, ({ state }) => state.counters.drops.of(reason)),
        { reason },
      )
    }
  })
}

function observeFlows(meter: Context['meter'], workers: Workers): void {
  const open = meter.createObservableUpDownCounter('earshot.relay.flows', {
    description: 'Flows in the table, by state',
    unit: '{flow}',
  })
  const evictions = meter.createObservableCounter('earshot.relay.evictions', {
    description: 'Unconfirmed flows pushed out of a full table',
    unit: '{flow}',
  })
  const decodes = meter.createObservableCounter('earshot.relay.decodes', {
    description: 'Ufrags decoded',
    unit: '{ufrag}',
  })
  const recoveries = meter.createObservableCounter('earshot.relay.recoveries', {
    description: 'Routes taken from the recovery store',
    unit: '{route}',
  })
  observe(meter, [open, evictions, decodes, recoveries], (result) => {
    result.observe(
      open,
      sum(workers, ({ state }) => state.flows.confirmed),
      { state: 'confirmed' },
    )
    result.observe(
      open,
      sum(workers, ({ state }) => state.flows.unconfirmed),
      { state: 'unconfirmed' },
    )
    result.observe(
      evictions,
      sum(workers, ({ state }) => state.flows.evicted),
    )
    result.observe(
      decodes,
      sum(workers, ({ state }) => state.counters.decodes),
    )
    result.observe(
      recoveries,
      sum(workers, ({ state }) => state.counters.recoveries),
    )
  })
}

function observeLookUps(meter: Context['meter'], { counters }: Recovery): void {
  const lookUps = meter.createObservableCounter('earshot.relay.look_ups', {
    description: 'Recovery look-ups, by result',
    unit: '{lookup}',
  })
  observe(meter, [lookUps], (result) => {
    for (const [name, count] of Object.entries(counters)) result.observe(lookUps, count, { result: name })
  })
}

function observeSpans(meter: Context['meter'], budget: SpanBudget, workers: Workers): void {
  const leftOut = meter.createObservableCounter('earshot.relay.spans.left_out', {
    description: 'Spans that were not made, so that a flood fills no collector',
    unit: '{span}',
  })
  observe(meter, [leftOut], (result) => {
    for (const kind of ['opened', 'confirmed', 'recovered', 'ended'] as const) {
      const lost = kind === 'recovered' ? 0 : sum(workers, ({ thread }) => thread?.lost(kind) ?? 0)
      result.observe(leftOut, budget.leftOut[kind] + lost, { kind })
    }
  })
}

function observeSockets(meter: Context['meter'], workers: Workers): void {
  const datagrams = meter.createObservableCounter('earshot.relay.socket.datagrams', {
    description: 'Datagrams received and sent, by socket',
    unit: '{packet}',
  })
  const errors = meter.createObservableCounter('earshot.relay.socket.errors', {
    description: 'Datagrams that the socket lost, by socket and kind',
    unit: '{packet}',
  })
  observe(meter, [datagrams, errors], (result) => {
    for (const [socket, sockets] of byAddress(workers)) {
      const count = (of: (counters: RelaySocket['counters']) => number): number =>
        sockets.reduce((total, { counters }) => total + of(counters), 0)
      result.observe(
        datagrams,
        count(({ received }) => received),
        { socket, direction: 'in' },
      )
      result.observe(
        datagrams,
        count(({ sent }) => sent),
        { socket, direction: 'out' },
      )
      result.observe(
        errors,
        count(({ truncated }) => truncated),
        { socket, kind: 'truncated' },
      )
      result.observe(
        errors,
        count(({ receiveErrors }) => receiveErrors),
        { socket, kind: 'receive' },
      )
      result.observe(
        errors,
        count(({ sendErrors }) => sendErrors),
        { socket, kind: 'send' },
      )
    }
  })
}

/** Workers share their public addresses. */
function byAddress(workers: Workers): Map<string, RelaySocket[]> {
  const all = workers.flatMap(({ sockets }) => [
    ...sockets.publics,
    sockets.upstream,
    ...(sockets.others ?? []),
  ])
  return Map.groupBy(all, ({ local }) => local.toString())
}

type Observer = Parameters<Context['meter']['addBatchObservableCallback']>

function observe(meter: Context['meter'], instruments: Observer[1], callback: Observer[0]): void {
  meter.addBatchObservableCallback(callback, instruments)
}
