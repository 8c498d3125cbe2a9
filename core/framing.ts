/**
 * What stands in front of each datagram between relay and transceiver, and between relays: the Simple Proxy Protocol's
 * header, or that with a key id and a tag behind it (`spp-mac`): magic 0x56ED instead of 0x56EC, the same 36 bytes, the
 * key id (1 byte), the tag (8) over header, key id and payload. Each direction has tags of its own, so that no frame
 * passes for an answer to itself. Read and written in place; nothing is allocated per datagram.
 */

import { createHmac } from 'node:crypto'
import { FRAME_TAG, FrameTag } from './ffi/frame-tag.ts'
import type { FrameKey } from './framing-option.ts'
import type { Address } from './wire/address.ts'
import { readSpp, SPP_LENGTH, writeSpp } from './wire/spp.ts'

/**
 * Why a frame is not taken: `bad_frame` has no header; with tags besides, `mac_missing` has a header without one,
 * `mac_key` names a key that is not ours, `mac_wrong` was altered, or made with another key or for the other direction.
 */
export const FRAME_FAULTS = ['bad_frame', 'mac_missing', 'mac_key', 'mac_wrong'] as const

/** One of them. */
export type FrameFault = (typeof FRAME_FAULTS)[number]

/** One way of framing, at one end. */
export interface Framing {
  /** Bytes in front of the payload, at most HEAD_ROOM. */
  readonly length: number
  /** Frames the payload bytes[start, end): writes bytes[start - length, start). */
  write(bytes: Uint8Array, start: number, end: number, client: Address, proxy: Address): void
  /**
   * Reads the frame bytes[start, end) into `client` and `proxy`; the payload begins `length` behind `start` and may be
   * empty. Otherwise says why not, and what the two addresses are then means nothing.
   */
  read(bytes: Uint8Array, start: number, end: number, client: Address, proxy: Address): FrameFault | undefined
}

/** `up` goes towards transceivers, `down` towards clients. */
export type FrameDirection = 'up' | 'down'

/** Bytes of a header with its key id and tag. */
export const SPP_MAC_LENGTH = SPP_LENGTH + 1 + FRAME_TAG

const MAGIC_HIGH = 0x56
const MAGIC_LOW = 0xec
const MAC_MAGIC_LOW = 0xed

/** The header alone. */
export const plainFraming: Framing = Object.freeze({
  length: SPP_LENGTH,
  write: (bytes: Uint8Array, start: number, _end: number, client: Address, proxy: Address): void =>
    writeSpp(bytes, start - SPP_LENGTH, client, proxy),
  read: (
    bytes: Uint8Array,
    start: number,
    end: number,
    client: Address,
    proxy: Address,
  ): FrameFault | undefined => (readSpp(bytes, start, end, client, proxy) ? undefined : 'bad_frame'),
})

/** Nothing in front: towards servers that know nothing of us. No frame is taken by it. */
export const bareFraming: Framing = Object.freeze({
  length: 0,
  write: (): void => {},
  read: (): FrameFault => 'bad_frame',
})

/**
 * The framing of the end that sends in direction `sends`: with keys each frame has a tag, otherwise none. The first key
 * signs, all of them verify. Throws EdgeError `openssl_unavailable` where there are keys and no OpenSSL.
 */
export function framing(keys: readonly FrameKey[] | undefined, sends: FrameDirection): Framing {
  return keys === undefined || keys.length === 0 ? plainFraming : new MacFraming(keys, sends)
}

class MacFraming implements Framing {
  readonly length = SPP_MAC_LENGTH
  readonly #signingId: number
  readonly #signing: FrameTag
  /** By key id. */
  readonly #verifying: readonly (FrameTag | undefined)[]

  constructor(keys: readonly FrameKey[], sends: FrameDirection) {
    const [first] = keys
    this.#signingId = first!.id
    this.#signing = tagOf(first!, sends)
    const verifying = Array.from({ length: 256 }, (): FrameTag | undefined => undefined)
    for (const key of keys) verifying[key.id] = tagOf(key, sends === 'up' ? 'down' : 'up')
    this.#verifying = verifying
  }

  write(bytes: Uint8Array, start: number, end: number, client: Address, proxy: Address): void {
    const from = start - SPP_MAC_LENGTH
    writeSpp(bytes, from, client, proxy)
    bytes[from + 1] = MAC_MAGIC_LOW
    bytes[from + SPP_LENGTH] = this.#signingId
    // A frame that OpenSSL refuses to sign goes out with whatever was there, and is dropped where it arrives.
    this.#signing.sign(bytes, from, from + SPP_LENGTH + 1, end)
  }

  read(
    bytes: Uint8Array,
    start: number,
    end: number,
    client: Address,
    proxy: Address,
  ): FrameFault | undefined {
    if (end - start < SPP_LENGTH || bytes[start] !== MAGIC_HIGH) return 'bad_frame'
    if (bytes[start + 1] === MAGIC_LOW) return 'mac_missing'
    if (bytes[start + 1] !== MAC_MAGIC_LOW || end - start < SPP_MAC_LENGTH) return 'bad_frame'
    const tag = this.#verifying[bytes[start + SPP_LENGTH]!]
    if (tag === undefined) return 'mac_key'
    if (!tag.verify(bytes, start, start + SPP_LENGTH + 1, end)) return 'mac_wrong'
    client.read(bytes, start + 2, (bytes[start + 34]! << 8) | bytes[start + 35]!)
    proxy.read(bytes, start + 18, (bytes[start + 36]! << 8) | bytes[start + 37]!)
    return undefined
  }
}

/** A key of its own for each direction. */
function tagOf({ key }: FrameKey, direction: FrameDirection): FrameTag {
  const derived = createHmac('sha256', Buffer.from(key, 'hex'))
    .update(`earshot spp-mac ${direction}`)
    .digest()
  const tag = new FrameTag(derived)
  derived.fill(0)
  return tag
}
