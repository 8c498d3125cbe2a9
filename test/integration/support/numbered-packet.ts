/** Opus packets that carry a number: 20 ms each, as far as their length and first byte go. */

const BYTES = 60
/** 20 ms of CELT, fullband, mono. */
const TOC = 31 << 3

/** The packet of a number below 2³². */
export function packetOf(number: number): Buffer {
  const packet = Buffer.alloc(BYTES, number)
  packet[0] = TOC
  packet.writeUInt32BE(number, 1)
  return packet
}
