/**
 * A routing codec whose texts can be read but not made up: the route in hex, signed. It is an example of
 * docs/guides/write-a-codec-or-a-store.md, and can be copied into a folder of its own as it is.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { Address, definePlugin, type Route, type RouteLabel, RoutingCodec, Type } from 'earshot'

/** cluster 0, port 2, ip 4, session 20; then the signature. */
const ROUTE = 28
const SIGNATURE = 8
const TEXT = /^[0-9a-f]{72}$/

class SignedCodec implements RoutingCodec {
  readonly portable
  readonly #key: string

  constructor(key: string) {
    this.#key = key
    this.portable = { module: import.meta.url, data: key }
  }

  encode({ cluster, address, session }: Route, label: RouteLabel): string {
    const bytes = Buffer.alloc(ROUTE + SIGNATURE)
    bytes.writeUInt16BE(cluster, 0)
    bytes.writeUInt16BE(address.port, 2)
    address.write(bytes, 4)
    bytes.set(session, 20)
    bytes.set(this.#sign(bytes.subarray(0, ROUTE), label), ROUTE)
    return bytes.toString('hex')
  }

  decode(text: Uint8Array, start: number, end: number, label: RouteLabel): Route | undefined {
    if (start < 0 || end > text.length || end - start !== (ROUTE + SIGNATURE) * 2) return undefined
    const hex = Buffer.from(text.slice(start, end)).toString('latin1')
    if (!TEXT.test(hex)) return undefined
    const bytes = Buffer.from(hex, 'hex')
    if (!timingSafeEqual(this.#sign(bytes.subarray(0, ROUTE), label), bytes.subarray(ROUTE))) return undefined
    const address = new Address().read(bytes, 4, bytes.readUInt16BE(2))
    return { cluster: bytes.readUInt16BE(0), address, session: new Uint8Array(bytes.subarray(20, ROUTE)) }
  }

  #sign(route: Buffer, label: RouteLabel): Buffer {
    return createHmac('sha256', this.#key).update(label).update(route).digest().subarray(0, SIGNATURE)
  }
}

/** The same codec in a worker thread of the relay. */
export function fromPortable(data: unknown): RoutingCodec {
  return new SignedCodec(String(data))
}

export default definePlugin({
  name: 'signed-codec',
  api: 1,
  options: Type.Object({
    key: Type.String({
      minLength: 32,
      writeOnly: true,
      description: 'The same in every relay and transceiver.',
    }),
  }),
  provides: { codec: RoutingCodec },
  setup: ({ key }) => ({ codec: new SignedCodec(key) }),
})
