/** The model's media: which call it belongs to, which stands for its keys, and a number. Its first byte says RTP. */

const LENGTH = 10

/** A packet. */
export function writeMedia(call: number, number: number): Buffer {
  const bytes = Buffer.alloc(LENGTH)
  bytes[0] = 0x80
  bytes[1] = 111
  bytes.writeUInt32BE(call, 2)
  bytes.writeUInt32BE(number, 6)
  return bytes
}

/** What a packet says, or undefined for what is none. */
export function readMedia(bytes: Buffer): { call: number; number: number } | undefined {
  if (bytes.length !== LENGTH || bytes[0] !== 0x80) return undefined
  return { call: bytes.readUInt32BE(2), number: bytes.readUInt32BE(6) }
}
