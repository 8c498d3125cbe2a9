/** What an Opus packet says of itself without being decoded (RFC 6716 §3). Pure. */

/** The longest packet we take from a bridge: one frame's most (RFC 6716 §3.2.1), which fits a datagram. */
export const MAX_OPUS_PACKET = 1275
/** 120 ms, the longest a packet may last (RFC 6716 §3.4, R5), in 48 kHz samples. */
const MAX_SAMPLES = 5760

/**
 * How long the packet in bytes[start, end) lasts, in 48 kHz samples: 120 to 5760, or 0 when it is no Opus packet.
 * Only its table-of-contents and count bytes are looked at.
 */
export function opusSamples(bytes: Uint8Array, start: number, end: number): number {
  if (end <= start) return 0
  const contents = bytes[start]!
  const frame = frameSamples(contents >> 3)
  switch (contents & 3) {
    case 0:
      return frame
    case 3: {
      const samples = end - start < 2 ? 0 : frame * (bytes[start + 1]! & 63)
      return samples > MAX_SAMPLES ? 0 : samples
    }
    default:
      return 2 * frame
  }
}

/** The frame size behind a configuration number (RFC 6716 table 2). */
function frameSamples(configuration: number): number {
  if (configuration >= 16) return 120 << (configuration & 3)
  if (configuration >= 12) return configuration & 1 ? 960 : 480
  return configuration & 3 ? 960 * (configuration & 3) : 480
}
