/** What a data channel m-line offers (RFC 8841). The older `DTLS/SCTP` with `a=sctpmap` is not taken. Pure. */

import type { Section } from './sections.ts'

/** The largest message we take and send, in bytes, whatever the client says. */
export const MAX_MESSAGE_SIZE = 262_144

/** The data channel line that is accepted. */
export interface OfferedData {
  readonly mid: string | undefined
  /** The client's SCTP port. */
  readonly sctpPort: number
  /** The largest message the client takes, in bytes: at most `MAX_MESSAGE_SIZE`. */
  readonly maxMessageSize: number
}

/** Reads a data channel line; undefined when it is none that we know. */
export function readData({ line, attributes, mid }: Section): OfferedData | undefined {
  const known = line.type === 'application' && /^(?:UDP|TCP)\/DTLS\/SCTP$/.test(line.protocol)
  if (!known || !line.formats.includes('webrtc-datachannel')) return undefined
  const sctpPort = Number(attributes.sctpPort ?? 5000)
  if (!(sctpPort >= 1 && sctpPort <= 65_535)) return undefined
  // Absent means 64 KiB, 0 means any size (RFC 8841 §6.1).
  const offered = Number(attributes.maxMessageSize ?? 65_536) || MAX_MESSAGE_SIZE
  return { mid, sctpPort, maxMessageSize: Math.min(offered, MAX_MESSAGE_SIZE) }
}
