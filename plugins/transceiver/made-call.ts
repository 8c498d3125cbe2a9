/** What is made up for a call before it starts: its route, its id, its credentials and names, and the answer to its offer. */

import { EdgeError, type Route, randomBytes } from '../../core/index.ts'
import type { ChannelTerms } from './event-channel.ts'
import type { Credentials } from './ice/generation.ts'
import { Negotiation } from './negotiation.ts'
import { writeAnswer } from './sdp/answer.ts'
import type { Offer } from './sdp/offer.ts'
import type { SessionsOptions } from './sessions-options.ts'
import { CALL_SECRET_BYTES, makeCallId } from './signaling/call-id.ts'
import type { CallRequest } from './signaling/call-service.ts'
import { interceptRtvi } from './signaling/rtvi.ts'

/** A call that can be started. */
export interface MadeCall {
  readonly id: string
  /** The answer. */
  readonly sdp: string
  readonly negotiation: Negotiation
  readonly route: Route
  readonly local: Credentials
  /** The secret part of its id. */
  readonly secret: Uint8Array
  readonly ssrc: number
  readonly cname: string
}

/** Makes it all. Throws EdgeError `bad_request` for a data channel's id without a data channel. */
export function makeCall(options: SessionsOptions, offer: Offer, channelId?: number): MadeCall {
  const { codec, cluster, address, advertise, identity } = options
  if (channelId !== undefined && !offer.data) {
    throw new EdgeError('bad_request', 'dcid names a data channel, but the offer has none.', {
      param: 'dcid',
    })
  }
  const route: Route = { cluster, address, session: randomBytes(8) }
  const local = { ufrag: codec.encode(route, 'ufrag'), pwd: Buffer.from(randomBytes(16)).toString('hex') }
  const secret = randomBytes(CALL_SECRET_BYTES)
  const ssrc = randomBytes(4).readUInt32BE()
  const cname = randomBytes(8).toString('hex')
  const terms = {
    fingerprint: identity.fingerprint,
    candidates: advertise,
    ssrc,
    cname,
    sessionId: String(randomBytes(4).readUInt32BE()),
  }
  const sdp = writeAnswer(offer, { ...local, ...terms })
  const negotiation = new Negotiation(offer, terms)
  return { id: makeCallId(codec, route, secret), sdp, negotiation, route, local, secret, ssrc, cname }
}

/** What a request says of its data channel beside the offer. */
export function channelTerms({ channelId, dialect }: CallRequest): ChannelTerms {
  return {
    ...(channelId === undefined ? {} : { channelId }),
    ...(dialect === 'rtvi' ? { intercept: interceptRtvi } : {}),
  }
}
