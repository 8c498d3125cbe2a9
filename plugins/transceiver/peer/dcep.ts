/** The messages that open a data channel (RFC 8832 §5) and the payload protocol identifiers (RFC 8831 §8). Pure. */

/** Payload protocol identifiers; 52 and 54, long deprecated, are not taken. */
export const PPID = Object.freeze({ dcep: 50, text: 51, binary: 53, emptyText: 56, emptyBinary: 57 })

/** Confirms an opened channel. */
export const DCEP_ACK: Buffer = Buffer.of(2)

const OPEN = 3
const ACK = 2
const OPEN_HEADER = 12

/** A read DCEP message; undefined for what is none. */
export type DcepMessage =
  | { readonly type: 'open'; readonly label: string }
  | { readonly type: 'ack' }
  | undefined

/** Reads a DCEP message. */
export function readDcep(data: Buffer): DcepMessage {
  // One byte (RFC 8832 §5.2); Pion sends three more, which are 0.
  if (data[0] === ACK && (data.length === 1 || (data.length === 4 && data.readUIntBE(1, 3) === 0)))
    return { type: 'ack' }
  if (data[0] !== OPEN || data.length < OPEN_HEADER) return undefined
  const labelLength = data.readUInt16BE(8)
  const protocolLength = data.readUInt16BE(10)
  if (data.length < OPEN_HEADER + labelLength + protocolLength) return undefined
  return { type: 'open', label: data.toString('utf8', OPEN_HEADER, OPEN_HEADER + labelLength) }
}

/** Writes the message that opens a reliable, ordered channel; the label's length counts bytes, not characters. */
export function writeDcepOpen(label: string): Buffer {
  const bytes = Buffer.from(label)
  const header = Buffer.alloc(OPEN_HEADER)
  header[0] = OPEN
  header.writeUInt16BE(bytes.length, 8)
  return Buffer.concat([header, bytes])
}
