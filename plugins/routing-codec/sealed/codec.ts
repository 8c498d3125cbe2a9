/**
 * Route ⇄ sealed text: AES-128-GCM, with version, key id and label as additional data. Decoding is total, and what is
 * not ours is turned away by length, alphabet, version and key id before any cryptography and without allocating.
 */

import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { Address, fillRandom, type Route, type RouteLabel, type RoutingCodec } from '../../../core/index.ts'
import { base32Length, firstBytes, fromBase32, toBase32 } from './base32.ts'
import type { RoutingKey } from './keys.ts'

const ALGORITHM = 'aes-128-gcm'
const VERSION = 1
const NONCE = 12
const TAG = 16
const TAG_LENGTH = { authTagLength: TAG }
const HEAD = 2 + NONCE
/** cluster, port, session; then the ip. */
const FIXED = 12
const SESSION = 8

/** One sealed route's bytes and their parts, made once so that decoding makes nothing. */
class Scratch {
  readonly bytes: Buffer
  readonly nonce: Buffer
  readonly body: Buffer
  readonly tag: Buffer
  readonly characters: number

  constructor(ipLength: number) {
    const body = FIXED + ipLength
    this.bytes = Buffer.alloc(HEAD + body + TAG)
    this.nonce = this.bytes.subarray(2, HEAD)
    this.body = this.bytes.subarray(HEAD, HEAD + body)
    this.tag = this.bytes.subarray(HEAD + body)
    this.characters = base32Length(this.bytes.length)
  }
}

interface Key {
  readonly id: number
  readonly secret: KeyObject
  readonly additional: Readonly<Record<RouteLabel, Buffer>>
}

/** The codec; its keys can be replaced while it is in use. */
export class SealedCodec implements RoutingCodec {
  readonly #v4 = new Scratch(4)
  readonly #v6 = new Scratch(16)
  #first: Key
  #byId: (Key | undefined)[]

  /** At least one key, ids unlike. The first encodes, all decode. */
  constructor(keys: readonly RoutingKey[]) {
    const made = keys.map(prepare)
    this.#first = made[0]!
    this.#byId = index(made)
  }

  /** Goes on with these keys instead. */
  replace(keys: readonly RoutingKey[]): void {
    const made = keys.map(prepare)
    this.#first = made[0]!
    this.#byId = index(made)
  }

  encode(route: Route, label: RouteLabel): string {
    if (route.session.length !== SESSION) throw new RangeError(`a session has ${SESSION} bytes`)
    const sealed = new Scratch(route.address.isIPv4 ? 4 : 16)
    const key = this.#first
    sealed.bytes[0] = VERSION
    sealed.bytes[1] = key.id
    fillRandom(sealed.nonce)
    const cipher = createCipheriv(ALGORITHM, key.secret, sealed.nonce, TAG_LENGTH)
    cipher.setAAD(key.additional[label])
    cipher.update(writeRoute(route)).copy(sealed.body)
    cipher.final()
    cipher.getAuthTag().copy(sealed.tag)
    return toBase32(sealed.bytes)
  }

  decode(text: Uint8Array, start: number, end: number, label: RouteLabel): Route | undefined {
    if (start < 0 || end > text.length) return undefined
    const sealed =
      end - start === this.#v4.characters
        ? this.#v4
        : end - start === this.#v6.characters
          ? this.#v6
          : undefined
    if (sealed === undefined) return undefined
    const head = firstBytes(text, start)
    if (head >> 8 !== VERSION) return undefined
    const key = this.#byId[head & 255]
    if (key === undefined || !fromBase32(text, start, end, sealed.bytes)) return undefined
    return open(sealed, key, label)
  }
}

function prepare({ id, key }: RoutingKey): Key {
  const additional = (label: RouteLabel): Buffer =>
    Buffer.concat([Buffer.from([VERSION, id]), Buffer.from(label)])
  return {
    id,
    secret: createSecretKey(Buffer.from(key, 'hex')),
    additional: { ufrag: additional('ufrag'), call: additional('call') },
  }
}

function index(keys: readonly Key[]): (Key | undefined)[] {
  const byId = new Array<Key | undefined>(256).fill(undefined)
  for (const key of keys) byId[key.id] = key
  return byId
}

function open(sealed: Scratch, key: Key, label: RouteLabel): Route | undefined {
  try {
    const decipher = createDecipheriv(ALGORITHM, key.secret, sealed.nonce, TAG_LENGTH)
    decipher.setAAD(key.additional[label]).setAuthTag(sealed.tag)
    const body = decipher.update(sealed.body)
    decipher.final()
    return readRoute(body)
  } catch {
    // `final` throws when the tag is wrong; there is no other way to ask.
    return undefined
  }
}

function writeRoute({ cluster, address, session }: Route): Buffer {
  const body = Buffer.alloc(FIXED + 16)
  body.writeUInt16BE(cluster, 0)
  body.writeUInt16BE(address.port, 2)
  body.set(session, 4)
  address.write(body, FIXED)
  if (!address.isIPv4) return body
  body.writeInt32BE(address.w3, FIXED)
  return body.subarray(0, FIXED + 4)
}

function readRoute(body: Buffer): Route {
  const address = new Address()
  const port = body.readUInt16BE(2)
  if (body.length === FIXED + 4) address.set(0, 0, 0xffff, body.readInt32BE(FIXED), port)
  else address.read(body, FIXED, port)
  return { cluster: body.readUInt16BE(0), address, session: Uint8Array.prototype.slice.call(body, 4, FIXED) }
}
