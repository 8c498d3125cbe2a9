/** CRC32c, SCTP's checksum (RFC 9260 §6.8 and appendix A). Pure. */

const TABLE = new Int32Array(256).map((_, n) => {
  let c = n
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1
  return c
})

/** The checksum of an SCTP packet, its own field counted as zero. */
export function sctpChecksum(packet: Uint8Array): number {
  let crc = -1
  for (let i = 0; i < packet.length; i++) {
    const byte = i >= 8 && i < 12 ? 0 : packet[i]!
    crc = TABLE[(crc ^ byte) & 255]! ^ (crc >>> 8)
  }
  return ~crc >>> 0
}
