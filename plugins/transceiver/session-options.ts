/** What a session is made of and from. Types alone. */

import type { DtlsContext, EdgeError, InferenceBridge } from '../../core/index.ts'
import type { CallOptions } from './call.ts'
import type { ChannelTerms } from './event-channel.ts'
import type { Path } from './ice/path.ts'
import type { OpusSettings } from './media/opus-encoder.ts'
import type { PlayoutClock } from './media/pacer.ts'
import type { Offer } from './sdp/offer.ts'
import type { SessionTrace } from './session-trace.ts'
import type { TransceiverSocket } from './socket.ts'

/** Where a session is in its life. */
export type SessionState = 'new' | 'connecting' | 'connected' | 'closed'

/** What a session is made of and from. */
export interface SessionOptions {
  /** Who calls and what was asked for, as the bridge will see it. */
  readonly call: Pick<CallOptions, 'id' | 'traceSession' | 'caller' | 'model' | 'session' | 'counters'>
  readonly offer: Offer
  readonly channel: ChannelTerms
  readonly local: { readonly ufrag: string; readonly pwd: string }
  readonly ssrc: number
  readonly cname: string
  readonly bridge: InferenceBridge
  /** How to encode; for voice unless given. */
  readonly opus?: OpusSettings | undefined
  readonly clock: PlayoutClock
  readonly dtls: DtlsContext
  readonly socket: TransceiverSocket
  readonly trace: SessionTrace
  readonly now: number
  readonly connectMs: number
  readonly maxCallMs: number
  random(length: number): Uint8Array
  /** Makes another ufrag that leads to this session. */
  newUfrag(): string
  /** A ufrag of ours is not used any more. */
  dropUfrag(ufrag: string): void
  /** The client showed itself at an address: its packets should come to this session. */
  onOpened(path: Path): void
  /** The client was shown to receive there. */
  onValidated(path: Path): void
  /** The address counts no more. */
  onForgotten(path: Path): void
  /** Called once, when everything is freed. */
  onClosed(reason: string, fault: EdgeError | undefined): void
}
