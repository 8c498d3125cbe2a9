/**
 * RTCP compound packets (RFC 3550 §6), read by visitor and written in place. The reader is total, and all or
 * nothing: a compound with one bad length is dropped whole, before a handler has seen any of it. Pure.
 */

import { read32, write32 } from './rtp.ts'

const SENDER_REPORT = 200
const RECEIVER_REPORT = 201
const SOURCE_DESCRIPTION = 202
const BYE = 203
const CNAME = 1
const BLOCK = 24

/** A report block (RFC 3550 §6.4.1). Readers and writers reuse one instance. */
export class ReportBlock {
  /** The source that is reported on. */
  ssrc = 0
  /** Of the packets since the last report, in 1/256. */
  fractionLost = 0
  /** Since the beginning; duplicates can make it negative. Kept to 24 bits, signed. */
  cumulativeLost = 0
  /** The highest sequence number, with its cycles in the upper 16 bits. */
  highestSequence = 0
  /** In timestamp units. */
  jitter = 0
  /** The middle 32 bits of the NTP time of the last sender report; 0 when there was none. */
  lastSenderReport = 0
  /** Since then, in 1/65536 s. */
  delaySinceLastSenderReport = 0
}

/** What a sender report says of its sender (RFC 3550 §6.4.1). */
export interface SenderInfo {
  /** NTP time: seconds since 1900, and 1/2³² s. */
  ntpSeconds: number
  ntpFraction: number
  /** The RTP timestamp of the same instant. */
  rtpTimestamp: number
  packets: number
  octets: number
}

/** Who hears what a compound holds. Reused objects and ranges are good only during the call. */
export interface RtcpHandlers {
  /** `ntpMiddle` is what our next report block carries back as `lastSenderReport`. */
  senderReport(ssrc: number, ntpMiddle: number): void
  /** One block of a sender's or receiver's report; `reporter` wrote it. */
  reportBlock(reporter: number, block: ReportBlock): void
  /** The canonical name is the UTF-8 in bytes[start, end). */
  canonicalName(ssrc: number, bytes: Uint8Array, start: number, end: number): void
  bye(ssrc: number): void
}

const scratch = new ReportBlock()

/**
 * Visits the compound in bytes[start, end). False, and no handler called, when it is none. Packets of other
 * types, profile extensions and other description items are passed over.
 */
export function readRtcp(bytes: Uint8Array, start: number, end: number, handlers: RtcpHandlers): boolean {
  if (!isCompound(bytes, start, end)) return false
  for (let at = start; at < end; ) {
    const next = at + packetLength(bytes, at)
    const last = bytes[at]! & 0x20 ? next - bytes[next - 1]! : next
    const count = bytes[at]! & 31
    switch (bytes[at + 1]) {
      case SENDER_REPORT:
        handlers.senderReport(
          read32(bytes, at + 4),
          ((read32(bytes, at + 8) << 16) | (read32(bytes, at + 12) >>> 16)) >>> 0,
        )
        visitBlocks(bytes, at, at + 28, count, handlers)
        break
      case RECEIVER_REPORT:
        visitBlocks(bytes, at, at + 8, count, handlers)
        break
      case SOURCE_DESCRIPTION:
        visitDescriptions(bytes, at + 4, last, count, handlers)
        break
      case BYE:
        for (let i = 0; i < count; i++) handlers.bye(read32(bytes, at + 4 + 4 * i))
    }
    at = next
  }
  return true
}

/** The checks of RFC 3550 A.2, but for the first packet's type, which RFC 5506 sets free. */
function isCompound(bytes: Uint8Array, start: number, end: number): boolean {
  if (end > bytes.length || end <= start) return false
  for (let at = start; at < end; ) {
    if (end - at < 4 || bytes[at]! >> 6 !== 2) return false
    const length = packetLength(bytes, at)
    if (length > end - at) return false
    let body = length - 4
    if (bytes[at]! & 0x20) {
      const padding = bytes[at + length - 1]!
      if (at + length !== end || padding === 0 || padding & 3 || padding > body) return false
      body -= padding
    }
    if (body < leastBody(bytes[at + 1]!, bytes[at]! & 31)) return false
    at += length
  }
  return true
}

/** How many bytes a packet of this type and count must have behind its first four. */
function leastBody(type: number, count: number): number {
  if (type === SENDER_REPORT) return 24 + BLOCK * count
  if (type === RECEIVER_REPORT) return 4 + BLOCK * count
  return type === BYE ? 4 * count : 0
}

function packetLength(bytes: Uint8Array, at: number): number {
  return 4 + 4 * ((bytes[at + 2]! << 8) | bytes[at + 3]!)
}

function visitBlocks(bytes: Uint8Array, at: number, from: number, count: number, to: RtcpHandlers): void {
  const reporter = read32(bytes, at + 4)
  for (let i = 0; i < count; i++) {
    const b = from + BLOCK * i
    scratch.ssrc = read32(bytes, b)
    scratch.fractionLost = bytes[b + 4]!
    scratch.cumulativeLost = (read32(bytes, b + 4) << 8) >> 8
    scratch.highestSequence = read32(bytes, b + 8)
    scratch.jitter = read32(bytes, b + 12)
    scratch.lastSenderReport = read32(bytes, b + 16)
    scratch.delaySinceLastSenderReport = read32(bytes, b + 20)
    to.reportBlock(reporter, scratch)
  }
}

/** Chunks of a source and items, each ended by a null and padded to 32 bits (RFC 3550 §6.5). */
function visitDescriptions(
  bytes: Uint8Array,
  from: number,
  end: number,
  count: number,
  to: RtcpHandlers,
): void {
  let at = from
  for (let chunk = 0; chunk < count && end - at >= 8; chunk++) {
    const ssrc = read32(bytes, at)
    let item = at + 4
    while (item < end && bytes[item] !== 0) {
      if (item + 2 > end || item + 2 + bytes[item + 1]! > end) return
      const next = item + 2 + bytes[item + 1]!
      if (bytes[item] === CNAME) to.canonicalName(ssrc, bytes, item + 2, next)
      item = next
    }
    at = from + ((item - from + 4) & ~3)
  }
}

/** Writes a sender's report, with a block when one is given; answers its end. 28 or 52 bytes. */
export function writeSenderReport(
  bytes: Uint8Array,
  at: number,
  ssrc: number,
  info: SenderInfo,
  block: ReportBlock | undefined,
): number {
  write32(bytes, at + 8, info.ntpSeconds)
  write32(bytes, at + 12, info.ntpFraction)
  write32(bytes, at + 16, info.rtpTimestamp)
  write32(bytes, at + 20, info.packets)
  write32(bytes, at + 24, info.octets)
  return finishReport(bytes, at, SENDER_REPORT, ssrc, at + 28, block)
}

/** Writes a receiver's report, with a block when one is given; answers its end. 8 or 32 bytes. */
export function writeReceiverReport(
  bytes: Uint8Array,
  at: number,
  ssrc: number,
  block: ReportBlock | undefined,
): number {
  return finishReport(bytes, at, RECEIVER_REPORT, ssrc, at + 8, block)
}

/** Writes a source description with a canonical name of at most 255 bytes; answers its end. */
export function writeCanonicalName(bytes: Uint8Array, at: number, ssrc: number, name: Uint8Array): number {
  write32(bytes, at + 4, ssrc)
  bytes[at + 8] = CNAME
  bytes[at + 9] = name.length
  bytes.set(name, at + 10)
  const end = at + ((10 + name.length + 4) & ~3)
  bytes.fill(0, at + 10 + name.length, end)
  writeHead(bytes, at, SOURCE_DESCRIPTION, 1, end)
  return end
}

/** Writes a goodbye without a reason; answers its end. 8 bytes. */
export function writeBye(bytes: Uint8Array, at: number, ssrc: number): number {
  write32(bytes, at + 4, ssrc)
  writeHead(bytes, at, BYE, 1, at + 8)
  return at + 8
}

function finishReport(
  bytes: Uint8Array,
  at: number,
  type: number,
  ssrc: number,
  b: number,
  block: ReportBlock | undefined,
): number {
  write32(bytes, at + 4, ssrc)
  const end = block ? b + BLOCK : b
  writeHead(bytes, at, type, block ? 1 : 0, end)
  if (!block) return end
  write32(bytes, b, block.ssrc)
  const lost = Math.max(-0x800000, Math.min(0x7fffff, block.cumulativeLost))
  write32(bytes, b + 4, (block.fractionLost << 24) | (lost & 0xffffff))
  write32(bytes, b + 8, block.highestSequence)
  write32(bytes, b + 12, block.jitter)
  write32(bytes, b + 16, block.lastSenderReport)
  write32(bytes, b + 20, block.delaySinceLastSenderReport)
  return end
}

function writeHead(bytes: Uint8Array, at: number, type: number, count: number, end: number): void {
  const words = (end - at) / 4 - 1
  bytes[at] = 0x80 | count
  bytes[at + 1] = type
  bytes[at + 2] = words >>> 8
  bytes[at + 3] = words
}
