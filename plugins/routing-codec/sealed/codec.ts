/**
 * Route ⇄ sealed text: AES-128-GCM, with version, key id and label as additional data. Decoding is total, and what is
 * not ours is turned away by length, alphabet, version and key id before any cryptography and without allocating.
 */

import {
  Address,
  fillRandom,
  type PortableCodec,
  type Route,
  type RouteLabel,
  type RoutingCodec,
} from '../../../core/index.ts'
import { base32Length, firstBytes, fromBase32, toBase32 } from './base32.ts'
import { CodecCounters } from './counters.ts'
import { parseKeys, type RoutingKey } from './keys.ts'
import { createSealer, type Sealer } from './sealer.ts'

const VERSION = 1
const NONCE = 12
const TAG = 16
const HEAD = 2 + NONCE
/** cluster, port, session; then the ip. */
const FIXED = 12
const SESSION = 8

/** One sealed route's bytes and their parts, made once so that little is made for each. */
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

/** What another thread makes the codec from. */
interface PortableData {
  readonly keys: string
  readonly counters: SharedArrayBuffer
}

interface Key {
  readonly id: number
  readonly sealer: Sealer
  readonly additional: Readonly<Record<RouteLabel, Buffer>>
}

/** The codec; its keys can be replaced while it is in use. */
export class SealedCodec implements RoutingCodec {
  readonly #v4 = new Scratch(4)
  readonly #v6 = new Scratch(16)
  readonly counters: CodecCounters
  readonly portable: PortableCodec
  readonly #listeners = new Set<() => void>()
  #keys: readonly RoutingKey[]
  #first: Key
  #byId: (Key | undefined)[]

  /** At least one key, ids unlike. The first encodes, all decode. It counts with another thread's where it is given. */
  constructor(keys: readonly RoutingKey[], counters = new CodecCounters()) {
    const made = keys.map(prepare)
    this.#keys = keys
    this.#first = made[0]!
    this.#byId = index(made)
    this.counters = counters
    this.portable = this.#portable()
  }

  /** Goes on with these keys instead. */
  replace(keys: readonly RoutingKey[]): void {
    const old = this.#byId
    const made = keys.map(prepare)
    this.#keys = keys
    this.#first = made[0]!
    this.#byId = index(made)
    for (const key of old) key?.sealer.close()
    for (const tell of this.#listeners) tell()
  }

  #portable(): PortableCodec {
    const data = (): PortableData => ({ keys: JSON.stringify(this.#keys), counters: this.counters.memory })
    return {
      module: import.meta.url,
      get data() {
        return data()
      },
      onChange: (listener) => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
    }
  }

  /** The ids of the keys in use; the first is the one that encodes. */
  get keyIds(): number[] {
    const first = this.#first.id
    const others = this.#byId.flatMap((key) => (key && key.id !== first ? [key.id] : []))
    return [first, ...others]
  }

  encode(route: Route, label: RouteLabel): string {
    if (route.session.length !== SESSION) throw new RangeError(`a session has ${SESSION} bytes`)
    const sealed = route.address.isIPv4 ? this.#v4 : this.#v6
    const key = this.#first
    sealed.bytes[0] = VERSION
    sealed.bytes[1] = key.id
    fillRandom(sealed.nonce)
    writeRoute(route, sealed.body)
    key.sealer.seal(sealed.nonce, key.additional[label], sealed.body, sealed.tag)
    this.counters.encoded(key.id)
    return toBase32(sealed.bytes)
  }

  decode(text: Uint8Array, start: number, end: number, label: RouteLabel): Route | undefined {
    const { counters } = this
    const sealed = start < 0 || end > text.length ? undefined : this.#scratchFor(end - start)
    const head = sealed === undefined ? 0 : firstBytes(text, start)
    if (sealed === undefined || head >> 8 !== VERSION) {
      counters.refused('malformed')
      return undefined
    }
    const key = this.#byId[head & 255]
    if (key === undefined) {
      counters.refused('unknown_key')
      return undefined
    }
    if (!fromBase32(text, start, end, sealed.bytes)) {
      counters.refused('malformed')
      return undefined
    }
    if (!key.sealer.open(sealed.nonce, key.additional[label], sealed.body, sealed.tag)) {
      counters.refused('forged')
      return undefined
    }
    counters.decoded(key.id)
    return readRoute(sealed.body)
  }

  #scratchFor(characters: number): Scratch | undefined {
    if (characters === this.#v4.characters) return this.#v4
    return characters === this.#v6.characters ? this.#v6 : undefined
  }
}

/** The codec in another thread, counting with the first. */
export function fromPortable(data: unknown): SealedCodec {
  if (!isPortable(data)) throw new TypeError('this is not what a sealed codec is made from')
  return new SealedCodec(parseKeys(data.keys), new CodecCounters(data.counters))
}

function isPortable(data: unknown): data is PortableData {
  if (typeof data !== 'object' || data === null || !('keys' in data) || !('counters' in data)) return false
  return typeof data.keys === 'string' && data.counters instanceof SharedArrayBuffer
}

function prepare({ id, key }: RoutingKey): Key {
  const additional = (label: RouteLabel): Buffer =>
    Buffer.concat([Buffer.from([VERSION, id]), Buffer.from(label)])
  return {
    id,
    sealer: createSealer(Buffer.from(key, 'hex')),
    additional: { ufrag: additional('ufrag'), call: additional('call') },
  }
}

function index(keys: readonly Key[]): (Key | undefined)[] {
  const byId = new Array<Key | undefined>(256).fill(undefined)
  for (const key of keys) byId[key.id] = key
  return byId
}

/** Writes all of `body`, which has room for the address's kind. */
function writeRoute({ cluster, address, session }: Route, body: Buffer): void {
  body.writeUInt16BE(cluster, 0)
  body.writeUInt16BE(address.port, 2)
  body.set(session, 4)
  if (address.isIPv4) body.writeInt32BE(address.w3, FIXED)
  else address.write(body, FIXED)
}

function readRoute(body: Buffer): Route {
  const address = new Address()
  const port = body.readUInt16BE(2)
  if (body.length === FIXED + 4) address.set(0, 0, 0xffff, body.readInt32BE(FIXED), port)
  else address.read(body, FIXED, port)
  return { cluster: body.readUInt16BE(0), address, session: Uint8Array.prototype.slice.call(body, 4, FIXED) }
}
