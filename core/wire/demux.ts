/** What a datagram is, by its first byte alone (RFC 7983 §7). Pure. */

/** The protocols that share a port, and our own framing, which belongs on internal ports only. */
export type PacketKind = 'stun' | 'dtls' | 'media' | 'framing' | 'unknown'

/** The first byte of the framing's magic number. It lies in the range that RFC 7983 leaves unassigned. */
const FRAMING = 0x56

/** The kind of a datagram: 0–3 STUN, 20–63 DTLS, 128–191 RTP or RTCP, 0x56 framing, everything else unknown. */
export function packetKind(firstByte: number): PacketKind {
  if (firstByte >= 128 && firstByte <= 191) return 'media'
  if (firstByte <= 3) return 'stun'
  if (firstByte >= 20 && firstByte <= 63) return 'dtls'
  return firstByte === FRAMING ? 'framing' : 'unknown'
}
