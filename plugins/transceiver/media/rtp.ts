/**
 * RTP headers, read and written in place (RFC 3550 §5.1). The reader is total: whatever the bytes, it answers
 * true or false, never throws and never looks outside the range it was given. Pure.
 */

/** The fixed part of an RTP header, in bytes. */
export const RTP_HEADER = 12

/** What a reader found. Owners reuse one instance; its values are good until the next read. */
export class RtpHeader {
  payloadType = 0
  /** On audio: the first packet of a talkspurt. */
  marker = false
  /** 0 to 65535. */
  sequence = 0
  /** 32 bits, in the payload's own clock. */
  timestamp = 0
  ssrc = 0
  /** The payload is bytes[payloadStart, payloadEnd): behind contributors and extension, without padding. */
  payloadStart = 0
  payloadEnd = 0
}

/**
 * Reads the packet in bytes[start, end) into `into`. False for what is no RTP packet: another version, a
 * contributor list or extension longer than the packet, padding that is empty or longer than the payload.
 * `into` may then be half written. An empty payload is a packet.
 */
export function readRtp(bytes: Uint8Array, start: number, end: number, into: RtpHeader): boolean {
  if (end > bytes.length || end - start < RTP_HEADER) return false
  const first = bytes[start]!
  if (first >> 6 !== 2) return false
  let at = start + RTP_HEADER + 4 * (first & 15)
  if (first & 0x10) {
    if (end - at < 4) return false
    at += 4 + 4 * ((bytes[at + 2]! << 8) | bytes[at + 3]!)
  }
  if (at > end) return false
  let payloadEnd = end
  if (first & 0x20) {
    const padding = bytes[end - 1]!
    if (padding === 0 || padding > end - at) return false
    payloadEnd = end - padding
  }
  const second = bytes[start + 1]!
  into.marker = second > 127
  into.payloadType = second & 127
  into.sequence = (bytes[start + 2]! << 8) | bytes[start + 3]!
  into.timestamp = read32(bytes, start + 4)
  into.ssrc = read32(bytes, start + 8)
  into.payloadStart = at
  into.payloadEnd = payloadEnd
  return true
}

/** Writes a fixed header at `at`, with neither contributors nor extension; answers where the payload begins. */
export function writeRtp(
  bytes: Uint8Array,
  at: number,
  payloadType: number,
  marker: boolean,
  sequence: number,
  timestamp: number,
  ssrc: number,
): number {
  bytes[at] = 0x80
  bytes[at + 1] = marker ? payloadType | 0x80 : payloadType
  bytes[at + 2] = sequence >>> 8
  bytes[at + 3] = sequence
  write32(bytes, at + 4, timestamp)
  write32(bytes, at + 8, ssrc)
  return at + RTP_HEADER
}

/** The unsigned 32-bit word at `at`, big-endian. */
export function read32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}

/** Writes the low 32 bits of `value` at `at`, big-endian. */
export function write32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}
