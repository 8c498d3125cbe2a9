/**
 * What was agreed on for one call, and the answer to a later offer of the same peer connection (RFC 8829 §5.3.2). Such an
 * offer may restart ICE (RFC 8839 §4.4.1.1.1), or say nothing new; a call goes on with the audio, the data channel and the
 * certificate that it began with.
 */

import { EdgeError } from '../../core/index.ts'
import type { IceRestarts } from './ice/restarts.ts'
import { type AnswerOptions, writeAnswer } from './sdp/answer.ts'
import { type Offer, parseOffer } from './sdp/offer.ts'
import type { OfferedAudio } from './sdp/offered-audio.ts'
import type { OfferedData } from './sdp/offered-data.ts'

/** What every answer of a call says alike. */
export type AnswerTerms = Omit<AnswerOptions, 'ufrag' | 'pwd' | 'sessionVersion'>

/** One call's negotiation, from its first answer on. */
export class Negotiation {
  readonly #offer: Offer
  readonly #terms: AnswerTerms
  #version = 1

  constructor(offer: Offer, terms: AnswerTerms) {
    this.#offer = offer
    this.#terms = terms
  }

  /** Of the audio line. */
  get mid(): string | undefined {
    return this.#offer.audio.mid
  }

  /**
   * Answers a later offer: one with new ICE credentials restarts ICE. Throws what `parseOffer` throws, and EdgeError
   * `not_implemented`, with nothing changed, for an offer that asks for more.
   */
  answer(text: string, restarts: IceRestarts): string {
    const offer = parseOffer(text)
    const news = differenceOf(offer, this.#offer)
    if (news !== undefined) {
      const message = `A call goes on as it began, but this offer changes ${news}: make another peer connection.`
      throw new EdgeError('not_implemented', message, { param: 'sdp' })
    }
    const local = restarts.isCurrent(offer.ice) ? restarts.local : restarts.restart(offer.ice)
    this.#version++
    // Later offers say actpass again, and the role is what it was (RFC 8842 §5.3).
    const { answerSetup } = this.#offer
    return writeAnswer({ ...offer, answerSetup }, { ...this.#terms, ...local, sessionVersion: this.#version })
  }
}

/** What the offer changes that cannot be changed, in a client's words; undefined for nothing. */
function differenceOf(offer: Offer, before: Offer): string | undefined {
  const ourRole = before.answerSetup
  if (offer.setup === ourRole) return 'the DTLS role'
  if (!isSame(certificatesOf(offer), certificatesOf(before))) return 'the certificate'
  if (offer.bundled !== before.bundled) return 'what shares one transport'
  if (!isSame(audioOf(offer.audio), audioOf(before.audio))) return 'the audio'
  if (!isSame(dataOf(offer.data), dataOf(before.data))) return 'the data channel'
  return undefined
}

const certificatesOf = ({ fingerprints }: Offer): string[] =>
  fingerprints.map(({ algorithm, value }) => `${algorithm} ${value}`).sort()

const audioOf = (audio: OfferedAudio): unknown[] => [
  ...[audio.mid, audio.payloadType, audio.direction, audio.rtcpMux],
  ...[audio.telephoneEvents, audio.telephoneClockRates],
  audio.extensions.map(({ id, uri }) => `${id} ${uri}`).sort(),
]

const dataOf = (data: OfferedData | undefined): unknown[] => [data?.mid, data?.sctpPort, data?.maxMessageSize]

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
