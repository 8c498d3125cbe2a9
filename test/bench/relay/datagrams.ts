/**
 * The datagrams that a load is made of: Binding requests that open flows, and media with a time stamp in it. Nothing is
 * allocated for each.
 */

/** Bytes of a media datagram, about 20 ms of Opus and what SRTP puts around it. */
export const MEDIA_BYTES = 160

/** Where things lie in media, after what looks like an RTP header: little-endian words and a double. */
const MAGIC_AT = 12
const FLOW_AT = 16
const RUN_AT = 20
const SENT_AT = 24
const MAGIC = 0xfeedbeef

/** Clients whose requests carry the same ufrag: as many as a relay lets have one. */
const CLIENTS_PER_UFRAG = 8

/** Room for the longest request. */
export const MAX_REQUEST = 160
const HEADER = 20
const FLOW_IN_TRANSACTION = 8

/** Memory as bytes, words and doubles at once. */
export interface Views {
  readonly bytes: Uint8Array
  readonly words: Uint32Array
  readonly doubles: Float64Array
}

/** The same memory in three ways; it must begin at the beginning of its buffer. */
export function viewsOf(bytes: Uint8Array): Views {
  const { buffer, byteLength } = bytes
  return {
    bytes,
    words: new Uint32Array(buffer, 0, byteLength >>> 2),
    doubles: new Float64Array(buffer, 0, byteLength >>> 3),
  }
}

/** Writes a media datagram at `at`, a multiple of 8; `sent` is the clock's milliseconds. */
export function writeMedia(
  { bytes, words, doubles }: Views,
  at: number,
  flow: number,
  run: number,
  sent: number,
): void {
  bytes[at] = 0x80
  bytes[at + 1] = 111
  words[(at + MAGIC_AT) >>> 2] = MAGIC
  words[(at + FLOW_AT) >>> 2] = flow
  words[(at + RUN_AT) >>> 2] = run
  doubles[(at + SENT_AT) >>> 3] = sent
}

/** When the media datagram at `at` was sent, or -1 when it is none of this run. */
export function sentAt({ words, doubles }: Views, at: number, length: number, run: number): number {
  if (
    length !== MEDIA_BYTES ||
    words[(at + MAGIC_AT) >>> 2] !== MAGIC ||
    words[(at + RUN_AT) >>> 2] !== run
  ) {
    return -1
  }
  return doubles[(at + SENT_AT) >>> 3]!
}

/** The flow that a success response at `at` answers, or -1 when it is no response. */
export function confirmedFlow({ bytes, words }: Views, at: number): number {
  return bytes[at] === 1 && bytes[at + 1] === 1 ? words[(at + FLOW_IN_TRANSACTION) >>> 2]! : -1
}

/** Makes a Binding request its own success response: the type alone differs. Anything else stays as it is. */
export function answer(bytes: Uint8Array, at: number): void {
  if (bytes[at] === 0 && bytes[at + 1] === 1) bytes[at] = 1
}

/** Binding requests, made beforehand: one for each ufrag. */
export class Requests {
  readonly #bytes: Buffer
  readonly #lengths: Uint8Array

  /** `ufrag` is asked for each eight clients; it gives at most 96 characters. */
  constructor(flows: number, ufrag: (index: number) => string) {
    const count = Math.ceil(flows / CLIENTS_PER_UFRAG)
    this.#bytes = Buffer.alloc(count * MAX_REQUEST)
    this.#lengths = new Uint8Array(count)
    for (let i = 0; i < count; i++) {
      this.#lengths[i] = writeRequest(this.#bytes, i * MAX_REQUEST, `${ufrag(i)}:load`)
    }
  }

  /** Writes one for a flow at `at`, a multiple of 4; how many bytes it has. */
  write({ bytes, words }: Views, at: number, flow: number): number {
    const i = Math.floor(flow / CLIENTS_PER_UFRAG)
    const length = this.#lengths[i]!
    Buffer.prototype.copy.call(this.#bytes, bytes, at, i * MAX_REQUEST, i * MAX_REQUEST + length)
    words[(at + FLOW_IN_TRANSACTION) >>> 2] = flow
    return length
  }
}

/** Writes a Binding request with a USERNAME (RFC 8489 §14.3), its transaction id left open; how many bytes it has. */
export function writeRequest(into: Buffer, at: number, username: string): number {
  const padded = (username.length + 3) & ~3
  into.writeUInt16BE(0x0001, at)
  into.writeUInt16BE(4 + padded, at + 2)
  into.writeUInt32BE(0x2112a442, at + 4)
  into.writeUInt16BE(0x0006, at + HEADER)
  into.writeUInt16BE(username.length, at + HEADER + 2)
  into.write(username, at + HEADER + 4, 'latin1')
  return HEADER + 4 + padded
}
