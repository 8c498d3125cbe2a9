/** Where an RTP packet's header ends, and the fields of RTP and RTCP that SRTP reads. Pure. */

/** The largest packet that is protected or unprotected. */
export const MAX_SRTP_PACKET = 2048

/**
 * The offset of the payload of the RTP packet bytes[start, end), -1 if it is none: not version 2, or shorter
 * than its own header, CSRC list and header extension say (RFC 3550 §5.1, §5.3.1).
 */
export function payloadOffset(bytes: Uint8Array, start: number, end: number): number {
  if (start < 0 || end > bytes.length || end - start < 12) return -1
  const first = bytes[start]!
  if (first >>> 6 !== 2) return -1
  let offset = start + 12 + 4 * (first & 15)
  if ((first & 16) !== 0) {
    if (offset + 4 > end) return -1
    offset += 4 + 4 * ((bytes[offset + 2]! << 8) | bytes[offset + 3]!)
  }
  return offset <= end ? offset : -1
}

/** Whether bytes[start, end) begins like an RTCP packet (RFC 3550 §6.4): version 2 and a sender's SSRC. */
export function isRtcp(bytes: Uint8Array, start: number, end: number): boolean {
  return start >= 0 && end <= bytes.length && end - start >= 8 && bytes[start]! >>> 6 === 2
}

/** Four bytes as a signed 32-bit integer, which the engine keeps without allocating. */
export function int32At(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** Writes a 32-bit integer, signed or not. */
export function writeInt32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}
