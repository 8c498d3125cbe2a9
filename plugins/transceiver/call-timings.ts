/** How long calls take at their seams, as histograms; in seconds, as OpenTelemetry has durations. */

import type { Attributes, Histogram, Meter } from '@opentelemetry/api'
import type { MediaStats } from './media/media-stats.ts'

const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const LONG = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600]
const SMALL = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1]

/** The stages whose duration counts, and their metrics. */
const STAGES: Readonly<Record<string, readonly [name: string, description: string]>> = {
  'ice.connect': ['ice.connect.duration', 'From the answer to the first address that a client was shown at'],
  'dtls.handshake': ['dtls.handshake.duration', 'DTLS handshakes'],
}

/** The transceiver's histograms. */
export class CallTimings {
  readonly #offers: Histogram
  readonly #stages = new Map<string, Histogram>()
  readonly #firstAudio: Histogram
  readonly #calls: Histogram
  readonly #jitter: Histogram
  readonly #roundTrip: Histogram

  constructor(meter: Meter) {
    const histogram = (name: string, description: string, explicitBucketBoundaries: number[]): Histogram =>
      meter.createHistogram(`earshot.transceiver.${name}`, {
        unit: 's',
        description,
        advice: { explicitBucketBoundaries },
      })
    this.#offers = histogram('offer.duration', 'From an offer to its answer', QUICK)
    for (const [stage, [name, description]] of Object.entries(STAGES))
      this.#stages.set(stage, histogram(name, description, QUICK))
    this.#firstAudio = histogram(
      'audio.first_packet.duration',
      'From an offer to the first audio packet',
      QUICK,
    )
    this.#calls = histogram('calls.duration', 'Calls, from the offer to the end', LONG)
    this.#jitter = histogram('audio.jitter', 'Interarrival jitter at the end of a call (RFC 3550)', SMALL)
    this.#roundTrip = histogram('audio.round_trip', 'Round trip by RTCP at the end of a call', SMALL)
  }

  /** An offer was answered after so many milliseconds. */
  offer(ms: number): void {
    this.#offers.record(ms / 1000)
  }

  /** A stage is over, well or with a fault. */
  stage(stage: string, ms: number, fault: string | undefined): void {
    const attributes: Attributes = fault === undefined ? {} : { 'error.type': fault }
    this.#stages.get(stage)?.record(ms / 1000, attributes)
  }

  /** The first packet came or left so many milliseconds after the offer. */
  firstAudio(which: 'audio.received' | 'audio.sent', ms: number): void {
    this.#firstAudio.record(ms / 1000, { direction: which === 'audio.sent' ? 'sent' : 'received' })
  }

  /** A call has ended, for one of the reasons that are counted. */
  ended(reason: string, ms: number, stats: Readonly<MediaStats>): void {
    this.#calls.record(ms / 1000, { reason })
    if (stats.packetsReceived > 0) this.#jitter.record(stats.jitterMs / 1000, { direction: 'received' })
    if (stats.peerJitterMs !== undefined)
      this.#jitter.record(stats.peerJitterMs / 1000, { direction: 'sent' })
    if (stats.roundTripMs !== undefined) this.#roundTrip.record(stats.roundTripMs / 1000)
  }
}
