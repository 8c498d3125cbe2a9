/**
 * Looks at an SCTP packet before werift does, since a malformed one makes werift's parser loop for ever (a length of 0 in
 * a chunk or a parameter) or throw where nobody catches it.
 *
 * It walks chunks and parameters (RFC 9260 §3) and lets through only what is whole. Chunk types that werift does not know
 * are cut out as RFC 9260 §3.2 says. Pure, and never throws.
 */

import { sctpChecksum } from './sctp-checksum.ts'

/** Why a packet is dropped. */
export type SctpFault =
  | 'packet_size'
  | 'checksum'
  | 'chunk_length'
  | 'chunk_count'
  | 'chunk_content'
  | 'parameter_length'
  | 'unknown_chunk'

/** Chunk types by their names in RFC 9260 §3.2, RFC 6525 and RFC 3758. */
export const CHUNK = Object.freeze({
  data: 0,
  init: 1,
  initAck: 2,
  sack: 3,
  heartbeat: 4,
  heartbeatAck: 5,
  abort: 6,
  shutdown: 7,
  shutdownAck: 8,
  error: 9,
  cookieEcho: 10,
  cookieAck: 11,
  shutdownComplete: 14,
  reconfig: 130,
  forwardTsn: 192,
})

const COMMON_HEADER = 12
const MAX_PACKET = 2048
const MAX_CHUNKS = 128
/** No sender needs more of one kind, DATA aside; each may cost an answer. */
const MAX_OF_A_KIND = 2
/** The shortest whole chunk of each known type. */
const SHORTEST = new Map<number, number>([
  [CHUNK.data, 17],
  [CHUNK.init, 20],
  [CHUNK.initAck, 20],
  [CHUNK.sack, 16],
  [CHUNK.heartbeat, 4],
  [CHUNK.heartbeatAck, 4],
  [CHUNK.abort, 4],
  [CHUNK.shutdown, 8],
  [CHUNK.shutdownAck, 4],
  [CHUNK.error, 4],
  [CHUNK.cookieEcho, 4],
  [CHUNK.cookieAck, 4],
  [CHUNK.shutdownComplete, 4],
  [CHUNK.reconfig, 4],
  [CHUNK.forwardTsn, 8],
])
/** Where the parameters of a chunk start. */
const PARAMETERS = new Map<number, number>([
  [CHUNK.init, 20],
  [CHUNK.initAck, 20],
  [CHUNK.heartbeat, 4],
  [CHUNK.heartbeatAck, 4],
  [CHUNK.abort, 4],
  [CHUNK.error, 4],
  [CHUNK.reconfig, 4],
])
/** The shortest whole parameter of the re-configuration types that werift reads (RFC 6525 §4). */
const SHORTEST_RECONFIG = new Map([
  [13, 16],
  [16, 12],
  [17, 12],
])

/** What werift may have of `packet`: the same bytes, a copy without unknown chunks, or why it gets nothing. */
export function guardSctp(packet: Buffer): Buffer | SctpFault {
  if (packet.length < COMMON_HEADER + 4 || packet.length > MAX_PACKET) return 'packet_size'
  if (packet.readUInt32LE(8) !== sctpChecksum(packet)) return 'checksum'
  const known: Buffer[] = []
  const counts = new Map<number, number>()
  let skipped = false
  let chunks = 0
  for (let at = COMMON_HEADER; at + 4 <= packet.length; chunks++) {
    if (chunks === MAX_CHUNKS) return 'chunk_count'
    const type = packet[at]!
    const length = packet.readUInt16BE(at + 2)
    if (length < 4 || at + length > packet.length) return 'chunk_length'
    const shortest = SHORTEST.get(type)
    const end = at + ((length + 3) & ~3)
    if (shortest === undefined) {
      skipped = true
      // The highest bit says whether the chunks behind an unknown one may be read.
      if (type < 128) break
    } else {
      const fault = length < shortest ? 'chunk_length' : checkContent(packet, at, type, length)
      if (fault) return fault
      const count = (counts.get(type) ?? 0) + 1
      if (type !== CHUNK.data && count > MAX_OF_A_KIND) return 'chunk_count'
      counts.set(type, count)
      known.push(packet.subarray(at, end))
    }
    at = end
  }
  // RFC 9260 §6.10: these two are never bundled.
  if ((counts.has(CHUNK.init) || counts.has(CHUNK.initAck)) && chunks !== 1) return 'chunk_count'
  if (!skipped) return packet
  return known.length > 0 ? withoutUnknown(packet, known) : 'unknown_chunk'
}

function checkContent(packet: Buffer, at: number, type: number, length: number): SctpFault | undefined {
  const parameters = PARAMETERS.get(type)
  if (parameters !== undefined) {
    const fault = checkParameters(packet, at + parameters, at + length, type === CHUNK.reconfig)
    if (fault) return fault
  }
  switch (type) {
    case CHUNK.init:
    case CHUNK.initAck:
      return packet.readUInt32BE(at + 4) === 0 ? 'chunk_content' : undefined
    case CHUNK.sack:
      return checkSack(packet, at, length)
    case CHUNK.forwardTsn:
      return length % 4 === 0 ? undefined : 'chunk_length'
    default:
      return undefined
  }
}

function checkParameters(packet: Buffer, from: number, to: number, reconfig: boolean): SctpFault | undefined {
  for (let at = from; at + 4 <= to; ) {
    const type = packet.readUInt16BE(at)
    const length = packet.readUInt16BE(at + 2)
    if (length < 4 || at + length > to) return 'parameter_length'
    if (reconfig) {
      if (length < (SHORTEST_RECONFIG.get(type) ?? 4)) return 'parameter_length'
      if (type === 13 && length % 2 !== 0) return 'parameter_length'
    }
    at += (length + 3) & ~3
  }
  return undefined
}

/** Gap blocks must be there and ascend: werift walks each from its start to its end. */
function checkSack(packet: Buffer, at: number, length: number): SctpFault | undefined {
  const gaps = packet.readUInt16BE(at + 12)
  const duplicates = packet.readUInt16BE(at + 14)
  if (length < 16 + 4 * (gaps + duplicates)) return 'chunk_length'
  let last = 0
  for (let i = 0; i < gaps; i++) {
    const start = packet.readUInt16BE(at + 16 + 4 * i)
    const end = packet.readUInt16BE(at + 18 + 4 * i)
    if (start <= last || end < start) return 'chunk_content'
    last = end
  }
  return undefined
}

function withoutUnknown(packet: Buffer, known: readonly Buffer[]): Buffer {
  const copy = Buffer.concat([packet.subarray(0, COMMON_HEADER), ...known])
  copy.writeUInt32LE(sctpChecksum(copy), 8)
  return copy
}
