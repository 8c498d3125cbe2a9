/** The transceiver's metrics: read from counters when asked for, so that the packet path only counts. */

import type { Meter } from '@opentelemetry/api'
import type { Dispatch } from './dispatch.ts'
import type { SessionState } from './session-options.ts'
import type { Sessions } from './sessions.ts'
import type { TransceiverSocket } from './socket.ts'

const STATES: readonly SessionState[] = ['new', 'connecting', 'connected']

/** Registers the instruments that README.md lists. */
export function observe(
  meter: Meter,
  sessions: Sessions,
  socket: TransceiverSocket,
  dispatch: Dispatch,
): void {
  const gauge = meter.createObservableUpDownCounter('earshot.transceiver.calls', {
    unit: '{call}',
    description: 'Calls in being.',
  })
  gauge.addCallback((result) => {
    const counts = { new: 0, connecting: 0, connected: 0, closed: 0 }
    for (const { state } of sessions) counts[state]++
    for (const state of STATES) result.observe(counts[state], { state })
  })
  const counter = (name: string, unit: string, description: string) =>
    meter.createObservableCounter(`earshot.transceiver.${name}`, { unit, description })

  counter('calls.started', '{call}', 'Calls whose offer was answered.').addCallback((result) =>
    result.observe(sessions.counters.started),
  )
  counter('calls.ended', '{call}', 'Calls that ended.').addCallback((result) => {
    for (const [reason, n] of sessions.counters.ended) result.observe(n, { reason })
  })
  counter('offers.refused', '{offer}', 'Offers that were refused.').addCallback((result) => {
    for (const [code, n] of sessions.counters.refused) result.observe(n, { code })
  })
  counter('packets', '{packet}', 'UDP datagrams of the internal socket.').addCallback((result) => {
    result.observe(socket.counters.received, { direction: 'received' })
    result.observe(socket.counters.sent, { direction: 'sent' })
  })
  counter('socket.errors', '{packet}', 'Datagrams that the internal socket lost.').addCallback((result) => {
    const { truncated, receiveErrors, sendErrors } = socket.counters
    result.observe(truncated, { kind: 'truncated' })
    result.observe(receiveErrors, { kind: 'receive' })
    result.observe(sendErrors, { kind: 'send' })
  })
  counter('drops', '{packet}', 'Datagrams dropped.').addCallback((result) => {
    for (const [reason, n] of Object.entries({ ...socket.drops, ...dispatch.drops }))
      result.observe(n, { reason })
  })
  counter('stun', '{message}', 'STUN messages that reached a session.').addCallback((result) => {
    for (const [outcome, n] of dispatch.stun) result.observe(n, { outcome })
  })
}
