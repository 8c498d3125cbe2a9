/** The kit passes a codec that keeps the contract, and each of its checks fails one that breaks it. */

import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Route, RouteLabel, RoutingCodec } from '../../../../core/contracts/routing-codec.ts'
import {
  type CodecKeys,
  checkRoutingCodec,
  routingCodecChecks,
} from '../../../../core/testing/routing-codec.ts'
import { Address } from '../../../../core/wire/address.ts'

/** A codec that is right and simple: the route in hex, then a MAC. The tests break one method at a time. */
class HexCodec implements RoutingCodec {
  readonly keys: string[]

  constructor(which: CodecKeys) {
    this.keys = { first: ['one'], second: ['two'], both: ['two', 'one'] }[which]
  }

  encode(route: Route, label: RouteLabel): string {
    const bytes = Buffer.alloc(28)
    route.address.write(bytes, 0)
    bytes.writeUInt16BE(route.address.port, 16)
    bytes.writeUInt16BE(route.cluster, 18)
    bytes.set(route.session, 20)
    return bytes.toString('hex') + this.mac(bytes, label, this.keys[0]!)
  }

  decode(text: Uint8Array, start: number, end: number, label: RouteLabel): Route | undefined {
    const whole = Buffer.from(text).toString('latin1', start, end)
    if (!/^[0-9a-f]{72}$/.test(whole)) return undefined
    const bytes = Buffer.from(whole.slice(0, 56), 'hex')
    if (!this.keys.some((key) => this.mac(bytes, label, key) === whole.slice(56))) return undefined
    return this.read(bytes)
  }

  mac(bytes: Buffer, label: string, key: string): string {
    return createHmac('sha256', key).update(label).update(bytes).digest('hex').slice(0, 16)
  }

  read(bytes: Buffer): Route {
    const address = new Address().read(bytes, 0, bytes.readUInt16BE(16))
    return { cluster: bytes.readUInt16BE(18), address, session: Uint8Array.from(bytes.subarray(20)) }
  }
}

checkRoutingCodec('a simple codec', (keys) => new HexCodec(keys))

const shared: Uint8Array = new Uint8Array(8)

/** What is broken → the check that must fail because of it. */
const BROKEN: Record<string, [check: RegExp, make: (keys: CodecKeys) => RoutingCodec]> = {
  'forgets the port': [
    /gives back what it was given/,
    (keys) =>
      new (class extends HexCodec {
        override read(bytes: Buffer): Route {
          bytes.writeUInt16BE(0, 16)
          return super.read(bytes)
        }
      })(keys),
  ],
  'has a byte for the cluster': [
    /every cluster/,
    (keys) =>
      new (class extends HexCodec {
        override read(bytes: Buffer): Route {
          return { ...super.read(bytes), cluster: bytes[19]! }
        }
      })(keys),
  ],
  'writes a slash': [
    /writes 4 to 96/,
    (keys) =>
      new (class extends HexCodec {
        override encode(route: Route, label: RouteLabel): string {
          return super.encode(route, label).replaceAll('a', '/')
        }
      })(keys),
  ],
  'writes too much': [
    /writes 4 to 96/,
    (keys) =>
      new (class extends HexCodec {
        override encode(route: Route, label: RouteLabel): string {
          return super.encode(route, label).padEnd(97, '0')
        }
      })(keys),
  ],
  'takes a call for a ufrag': [
    /keeps the labels apart/,
    (keys) =>
      new (class extends HexCodec {
        override mac(bytes: Buffer, _label: string, key: string): string {
          return super.mac(bytes, '', key)
        }
      })(keys),
  ],
  'reads from the beginning': [
    /reads only text/,
    (keys) =>
      new (class extends HexCodec {
        override decode(text: Uint8Array, start: number, end: number, label: RouteLabel) {
          return super.decode(text, 0, end - start, label)
        }
      })(keys),
  ],
  'reads to the end': [
    /reads only text/,
    (keys) =>
      new (class extends HexCodec {
        override decode(text: Uint8Array, start: number, _end: number, label: RouteLabel) {
          return super.decode(text, start, text.length, label)
        }
      })(keys),
  ],
  'writes to what it is given': [
    /reads only text/,
    (keys) =>
      new (class extends HexCodec {
        override decode(text: Uint8Array, start: number, end: number, label: RouteLabel) {
          const route = super.decode(text, start, end, label)
          text.fill(0)
          return route
        }
      })(keys),
  ],
  'hands out one array for all': [
    /routes that are the caller’s own/,
    (keys) =>
      new (class extends HexCodec {
        override read(bytes: Buffer): Route {
          shared.set(bytes.subarray(20))
          return { ...super.read(bytes), session: shared }
        }
      })(keys),
  ],
  'throws at what it does not know': [
    /is total/,
    (keys) =>
      new (class extends HexCodec {
        override decode(text: Uint8Array, start: number, end: number, label: RouteLabel) {
          const route = super.decode(text, start, end, label)
          if (!route && end - start < 10) throw new Error('too short')
          return route
        }
      })(keys),
  ],
  'makes up a route': [
    /is total/,
    (keys) =>
      new (class extends HexCodec {
        override decode(text: Uint8Array, start: number, end: number, label: RouteLabel) {
          const nothing = { cluster: 0, address: new Address(), session: new Uint8Array(8) }
          return super.decode(text, start, end, label) ?? (end - start === 37 ? nothing : undefined)
        }
      })(keys),
  ],
  'looks at three quarters of the tag': [
    /one character changed/,
    (keys) =>
      new (class extends HexCodec {
        override mac(bytes: Buffer, label: string, key: string): string {
          return super.mac(bytes, label, key).slice(0, 12).padEnd(16, '0')
        }
        override decode(text: Uint8Array, start: number, end: number, label: RouteLabel) {
          if (end - start !== 72) return undefined
          return super.decode(Buffer.from(text).fill('0', end - 4, end), start, end, label)
        }
      })(keys),
  ],
  'takes capitals too': [
    /one character changed/,
    (keys) =>
      new (class extends HexCodec {
        override decode(text: Uint8Array, start: number, end: number, label: RouteLabel) {
          const lower = Buffer.from(Buffer.from(text).toString('latin1').toLowerCase(), 'latin1')
          return super.decode(lower, start, end, label)
        }
      })(keys),
  ],
  'ignores what is behind': [
    /longer or shorter/,
    (keys) =>
      new (class extends HexCodec {
        override decode(text: Uint8Array, start: number, end: number, label: RouteLabel) {
          return super.decode(text, start, Math.min(end, start + 72), label)
        }
      })(keys),
  ],
  'is another one in another thread': [
    /same in another thread/,
    (keys) =>
      new (class extends HexCodec {
        readonly portable = {
          module:
            'data:text/javascript,export const fromPortable = () => ({ encode() { return "" }, decode() {} })',
          data: undefined,
        }
      })(keys),
  ],
  'says wrongly what makes it in another thread': [
    /same in another thread/,
    (keys) =>
      new (class extends HexCodec {
        readonly portable = { module: 'data:text/javascript,export const portable = 1', data: undefined }
      })(keys),
  ],
  'knows its first key only': [
    /every key it knows/,
    (keys) => {
      const codec = new HexCodec(keys)
      codec.keys.length = 1
      return codec
    },
  ],
  'knows every key': [
    /every key it knows/,
    (keys) => {
      const codec = new HexCodec(keys)
      codec.keys.push('one', 'two')
      return codec
    },
  ],
}

describe('the kit fails a codec that', () => {
  for (const [what, [which, make]] of Object.entries(BROKEN)) {
    test(what, async () => {
      const checks = routingCodecChecks(make).filter(([name]) => which.test(name))
      assert.equal(checks.length, 1)
      await assert.rejects(checks[0]![1]())
    })
  }
})

test('a codec without keys is not held to resist forgery', () => {
  const names = (authenticated: boolean): string[] =>
    routingCodecChecks((keys) => new HexCodec(keys), { authenticated }).map(([name]) => name)
  assert.equal(names(true).length - names(false).length, 3)
})
