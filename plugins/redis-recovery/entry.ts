/**
 * Entries as Redis holds them. A key is an HMAC of who the flow is, so that the store does not list clients; a value is
 * a route with a tag over it and over whose it is, so that only who has the secret can make one, for that flow alone.
 */

import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Recovered } from '../../core/index.ts'
import { ROUTE_LENGTH, readRoute } from './pure/route-bytes.ts'

const VERSION = 1
const TAG_LENGTH = 16
const KEY_BYTES = 16

/** Bytes of a value: version, route, tag. */
export const VALUE_LENGTH = 1 + ROUTE_LENGTH + TAG_LENGTH

/** Keys and values under one secret. */
export class Entries {
  readonly #prefix: string
  readonly #keySecret: KeyObject
  readonly #valueSecret: KeyObject

  /** `secret` in hex digits; `prefix` goes in front of every key. */
  constructor(secret: string, prefix: string) {
    this.#prefix = prefix
    this.#keySecret = derived(secret, 'earshot recovery key')
    this.#valueSecret = derived(secret, 'earshot recovery value')
  }

  /** The key of a flow, by its identity. */
  key(identity: string): string {
    const hash = createHmac('sha256', this.#keySecret).update(identity, 'latin1').digest()
    return this.#prefix + hash.toString('base64url', 0, KEY_BYTES)
  }

  /** The value that says where a flow goes. */
  value(identity: string, route: string): Buffer {
    const bytes = Buffer.alloc(VALUE_LENGTH)
    bytes[0] = VERSION
    bytes.write(route, 1, ROUTE_LENGTH, 'latin1')
    this.#tag(identity, bytes).copy(bytes, 1 + ROUTE_LENGTH, 0, TAG_LENGTH)
    return bytes
  }

  /** How the values of this transceiver begin. */
  beginning(transceiver: string): Buffer {
    return Buffer.from(String.fromCharCode(VERSION) + transceiver, 'latin1')
  }

  /** The route in a flow's value; undefined for anything that was not made by `value` for it, bytes or not. Never throws. */
  open(identity: string, value: unknown): Recovered | undefined {
    if (!Buffer.isBuffer(value) || value.length !== VALUE_LENGTH || value[0] !== VERSION) return undefined
    const tag = this.#tag(identity, value).subarray(0, TAG_LENGTH)
    if (!timingSafeEqual(tag, value.subarray(1 + ROUTE_LENGTH))) return undefined
    return readRoute(value, 1)
  }

  #tag(identity: string, value: Buffer): Buffer {
    return createHmac('sha256', this.#valueSecret)
      .update(identity, 'latin1')
      .update(value.subarray(0, 1 + ROUTE_LENGTH))
      .digest()
  }
}

function derived(secret: string, label: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', Buffer.from(secret, 'hex'), '', label, 32)))
}
