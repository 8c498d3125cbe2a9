/** The transceiver's metrics: read from counters when asked for, so that the packet path only counts. */

import type { Meter } from '@opentelemetry/api'
import { Observed } from '../../core/index.ts'
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
  const observed = new Observed(meter, 'earshot.transceiver')
  observeCalls(observed, sessions)
  observeMedia(meter, observed, sessions)
  observeSocket(observed, socket, dispatch)
}

function observeCalls(observed: Observed, sessions: Sessions): void {
  observed.upDownCounter('calls', '{call}', 'Calls in being.', (result) => {
    const counts = { new: 0, connecting: 0, connected: 0, closed: 0 }
    for (const { state } of sessions) counts[state]++
    for (const state of STATES) result.observe(counts[state], { state })
  })
  observed.counter('calls.started', '{call}', 'Calls whose offer was answered.', (result) =>
    result.observe(sessions.counters.started),
  )
  observed.counter('calls.ended', '{call}', 'Calls that ended.', (result) => {
    for (const [reason, n] of sessions.counters.ended) result.observe(n, { reason })
  })
  observed.counter('offers.refused', '{offer}', 'Offers that were refused.', (result) => {
    for (const [code, n] of sessions.counters.refused) result.observe(n, { code })
  })
}

function observeSocket(observed: Observed, socket: TransceiverSocket, dispatch: Dispatch): void {
  observed.counter('packets', '{packet}', 'UDP datagrams of the internal socket.', (result) => {
    result.observe(socket.counters.received, { direction: 'received' })
    result.observe(socket.counters.sent, { direction: 'sent' })
  })
  observed.counter('socket.errors', '{packet}', 'Datagrams that the internal socket lost.', (result) => {
    const { truncated, receiveErrors, sendErrors } = socket.counters
    result.observe(truncated, { kind: 'truncated' })
    result.observe(receiveErrors, { kind: 'receive' })
    result.observe(sendErrors, { kind: 'send' })
  })
  observed.counter('drops', '{packet}', 'Datagrams dropped.', (result) => {
    for (const [reason, n] of Object.entries({ ...socket.drops, ...dispatch.drops }))
      result.observe(n, { reason })
  })
  observed.counter('stun', '{message}', 'STUN messages that reached a session.', (result) => {
    for (const [outcome, n] of dispatch.stun) result.observe(n, { outcome })
  })
}

function* statsOf(sessions: Sessions) {
  // The same object each time, brought up to date by being asked for.
  for (const { media } of sessions) yield media.stats
}

/** What all calls' audio counted, and what slow bridges and closed channels cost. */
function observeMedia(meter: Meter, observed: Observed, sessions: Sessions): void {
  const packets = observed.counter('audio.packets', '{packet}', 'Audio packets of calls.')
  const bytes = observed.counter('audio.bytes', 'By', 'Audio payload of calls, decrypted.')
  const lost = observed.counter('audio.packets.lost', '{packet}', 'Audio packets that were lost on the way.')
  const discarded = observed.counter(
    'audio.packets.discarded',
    '{packet}',
    'Audio packets that could not be used.',
  )
  const concealed = observed.counter('audio.concealed', 's', 'Audio made up for lost packets.')
  const dropped = observed.counter('bridge.audio.dropped', 's', 'Audio that a bridge was too slow to read.')
  const events = observed.counter('events.dropped', '{event}', 'Events that nobody took in time.')
  meter.addBatchObservableCallback(
    (result) => {
      const sums = sessions.media.sum(statsOf(sessions))
      result.observe(packets, sums.packetsReceived, { direction: 'received' })
      result.observe(packets, sums.packetsSent, { direction: 'sent' })
      result.observe(bytes, sums.octetsReceived, { direction: 'received' })
      result.observe(bytes, sums.octetsSent, { direction: 'sent' })
      result.observe(lost, sums.lost, { direction: 'received' })
      result.observe(lost, sums.peerLost, { direction: 'sent' })
      result.observe(discarded, sums.late, { reason: 'late' })
      result.observe(discarded, sums.malformed, { reason: 'malformed' })
      result.observe(discarded, sums.wrongPayloadType, { reason: 'wrong_payload_type' })
      result.observe(discarded, sums.oldSource, { reason: 'old_source' })
      result.observe(discarded, sums.tooFast, { reason: 'too_fast' })
      result.observe(concealed, sums.concealedMs / 1000)
      const losses = sessions.counters.lost
      result.observe(dropped, losses.droppedAudioMs / 1000)
      result.observe(events, losses.droppedEvents, { direction: 'received' })
      result.observe(events, losses.unsentEvents, { direction: 'sent' })
    },
    [packets, bytes, lost, discarded, concealed, dropped, events],
  )
}
