/** What one call's media counts. */

/** Counters since the call began, and the latest measurements. */
export class MediaStats {
  /** Audio and telephone events of the source in use. */
  packetsReceived = 0
  /** Payload only, as RFC 3550 §6.4.1 counts. */
  octetsReceived = 0
  packetsSent = 0
  octetsSent = 0
  /** Of the source in use: what should have come and did not. */
  lost = 0
  /** Came twice, or after their time. */
  late = 0
  /** No RTP, no RTCP, or no Opus. */
  malformed = 0
  /** A payload type that was not agreed on. */
  wrongPayloadType = 0
  /** Of a source that another has replaced. */
  oldSource = 0
  /** Audio that came faster than time passes, for longer than a network can have held it back. */
  tooFast = 0
  /** Made up for lost packets. PCM bridges only. */
  concealedMs = 0
  jitterMs = 0
  /** From the peer's reports on what we send; undefined until there is one. */
  roundTripMs: number | undefined
  peerLost: number | undefined
  peerJitterMs: number | undefined
  remoteSsrc: number | undefined
  /** The peer said goodbye for the source in use. */
  saidBye = false
}
