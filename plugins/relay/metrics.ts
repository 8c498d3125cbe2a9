/** The relay's metrics: observed from counters when they are collected, never touched by a packet. */

import type { Context, UdpPort } from '../../core/index.ts'
import { DROP_REASONS } from './pure/drop-reasons.ts'
import type { RelayState } from './pure/relay-state.ts'
import type { SpanBudget } from './pure/span-budget.ts'
import type { Recovery } from './recovery.ts'
import type { Relay } from './relay.ts'
import type { RelaySockets } from './sockets.ts'

/** Registers the metrics; the README lists them with their units. They are read once more when the process closes. */
export function observeRelay(
  meter: Context['meter'],
  { state, sockets, recovery, spans }: Pick<Relay, 'state' | 'sockets' | 'recovery' | 'spans'>,
): void {
  observeTraffic(meter, state)
  observeFlows(meter, state)
  observeSockets(meter, sockets)
  observeSpans(meter, spans.budget)
  if (recovery) observeLookUps(meter, recovery)
}

function observeTraffic(meter: Context['meter'], { counters }: RelayState): void {
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
    result.observe(packets, counters.packetsUp, { direction: 'up' })
    result.observe(packets, counters.packetsDown, { direction: 'down' })
    result.observe(bytes, counters.bytesUp, { direction: 'up' })
    result.observe(bytes, counters.bytesDown, { direction: 'down' })
    for (const reason of DROP_REASONS) result.observe(drops, counters.drops.of(reason), { reason })
  })
}

function observeFlows(meter: Context['meter'], { counters, flows }: RelayState): void {
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
    result.observe(open, flows.confirmed, { state: 'confirmed' })
    result.observe(open, flows.unconfirmed, { state: 'unconfirmed' })
    result.observe(evictions, flows.evicted)
    result.observe(decodes, counters.decodes)
    result.observe(recoveries, counters.recoveries)
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

function observeSpans(meter: Context['meter'], budget: SpanBudget): void {
  const leftOut = meter.createObservableCounter('earshot.relay.spans.left_out', {
    description: 'Spans that were not made, so that a flood fills no collector',
    unit: '{span}',
  })
  observe(meter, [leftOut], (result) => {
    for (const [kind, count] of Object.entries(budget.leftOut)) result.observe(leftOut, count, { kind })
  })
}

function observeSockets(meter: Context['meter'], { publics, upstream }: RelaySockets): void {
  const datagrams = meter.createObservableCounter('earshot.relay.socket.datagrams', {
    description: 'Datagrams received and sent, by socket',
    unit: '{packet}',
  })
  const errors = meter.createObservableCounter('earshot.relay.socket.errors', {
    description: 'Datagrams that the socket lost, by socket and kind',
    unit: '{packet}',
  })
  observe(meter, [datagrams, errors], (result) => {
    const tell = ({ counters, local }: UdpPort): void => {
      const socket = local.toString()
      result.observe(datagrams, counters.received, { socket, direction: 'in' })
      result.observe(datagrams, counters.sent, { socket, direction: 'out' })
      result.observe(errors, counters.truncated, { socket, kind: 'truncated' })
      result.observe(errors, counters.receiveErrors, { socket, kind: 'receive' })
      result.observe(errors, counters.sendErrors, { socket, kind: 'send' })
    }
    for (const port of publics) tell(port)
    tell(upstream)
  })
}

type Observer = Parameters<Context['meter']['addBatchObservableCallback']>

function observe(meter: Context['meter'], instruments: Observer[1], callback: Observer[0]): void {
  meter.addBatchObservableCallback(callback, instruments)
}
