/** What a call's own caller is told of it, from what the transceiver holds. Pure. */

import type { Session } from './session.ts'
import type { CallDescription } from './signaling/call-service.ts'

/** What is kept of a call beside its session. */
export interface CallOrigin {
  readonly model: string | undefined
  /** When it began by the wall clock, in milliseconds since 1970. */
  readonly createdAt: number
}

/** Describes a call; `now` is the session's clock. */
export function describeCall(
  id: string,
  session: Pick<Session, 'state' | 'startedAt' | 'media'>,
  origin: CallOrigin,
  now: number,
): CallDescription {
  const { packetsReceived, packetsSent, lost, jitterMs, roundTripMs } = session.media.stats
  return {
    id,
    object: 'realtime.call',
    state: session.state === 'connected' ? 'connected' : 'connecting',
    ...(origin.model === undefined ? {} : { model: origin.model }),
    created_at: Math.floor(origin.createdAt / 1000),
    duration_ms: Math.round(now - session.startedAt),
    media: {
      packets_received: packetsReceived,
      packets_sent: packetsSent,
      packets_lost: lost,
      jitter_ms: round(jitterMs),
      round_trip_ms: roundTripMs === undefined ? null : round(roundTripMs),
    },
  }
}

const round = (ms: number): number => Math.round(ms * 10) / 10
