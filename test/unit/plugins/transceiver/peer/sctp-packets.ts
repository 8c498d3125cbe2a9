/** Writes SCTP packets by hand, right or wrong, for the tests. */

import { sctpChecksum } from '../../../../../plugins/transceiver/peer/sctp-checksum.ts'

/** A chunk; `length` overrides what its header says. */
export function chunk(type: number, body: Buffer | readonly number[], flags = 0, length?: number): Buffer {
  const content = Buffer.from(body)
  const padding = Buffer.alloc(-content.length & 3)
  const header = Buffer.alloc(4)
  header[0] = type
  header[1] = flags
  header.writeUInt16BE(length ?? content.length + 4, 2)
  return Buffer.concat([header, content, padding])
}

/** A parameter; `length` overrides what its header says. */
export function parameter(type: number, value: Buffer | readonly number[], length?: number): Buffer {
  const content = Buffer.from(value)
  const header = Buffer.alloc(4)
  header.writeUInt16BE(type, 0)
  header.writeUInt16BE(length ?? content.length + 4, 2)
  return Buffer.concat([header, content, Buffer.alloc(-content.length & 3)])
}

/** A packet with a right checksum. */
export function packet(tag: number, ...chunks: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(12)
  header.writeUInt16BE(5000, 0)
  header.writeUInt16BE(5000, 2)
  header.writeUInt32BE(tag >>> 0, 4)
  return sealed(Buffer.concat([header, ...chunks]))
}

/** The packet with its checksum put right, in place. */
export function sealed(bytes: Buffer): Buffer {
  bytes.writeUInt32LE(sctpChecksum(bytes), 8)
  return bytes
}

/** Big-endian 32-bit numbers. */
export function words(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [index, n] of numbers.entries()) bytes.writeUInt32BE(n >>> 0, index * 4)
  return bytes
}

/** Big-endian 16-bit numbers. */
export function halves(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 2)
  for (const [index, n] of numbers.entries()) bytes.writeUInt16BE(n & 0xffff, index * 2)
  return bytes
}

/** A DATA chunk. */
export function data(
  tsn: number,
  streamId: number,
  sequence: number,
  protocol: number,
  content: Buffer,
): Buffer {
  return chunk(0, Buffer.concat([words(tsn), halves(streamId, sequence), words(protocol), content]), 3)
}
