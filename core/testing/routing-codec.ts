/** The conformance kit of routing codecs: what the relay and the transceiver rely on, whatever the codec. */

import assert from 'node:assert/strict'
import type { Route, RouteLabel, RoutingCodec } from '../contracts/routing-codec.ts'
import { portableCodecs } from '../portable-codec.ts'
import { parseAddress } from '../wire/address.ts'
import { type Check, registerChecks } from './check.ts'
import { Prng } from './prng.ts'

/**
 * What the codec that is wanted knows: `first` and `second` are two keys; `both` knows both and encodes with the
 * second. Every call makes a codec anew, as another process with the same configuration would.
 */
export type CodecKeys = 'first' | 'second' | 'both'

/** What a codec claims. */
export interface RoutingCodecClaims {
  /** False for a codec without keys: it is not held to resist forgery. Default true. */
  readonly authenticated?: boolean
}

type Make = (keys: CodecKeys) => RoutingCodec

const LABELS: readonly RouteLabel[] = ['ufrag', 'call']
const ADDRESSES = [
  '10.0.0.5:3478',
  '255.255.255.255:65535',
  '0.0.0.1:1',
  '[2001:db8::1]:40000',
  '[::1]:9',
  '[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535',
  '[::ffff:192.0.2.1]:5000',
]

/** Registers the kit's tests for a codec. */
export function checkRoutingCodec(name: string, make: Make, claims: RoutingCodecClaims = {}): void {
  registerChecks(`${name} keeps the routing codec contract`, routingCodecChecks(make, claims))
}

/** The kit's checks, to run by hand. */
export function routingCodecChecks(make: Make, claims: RoutingCodecClaims = {}): Check[] {
  const checks: Check[] = [
    ['gives back what it was given: IPv4, IPv6, mapped, every label', async () => roundTrip(make)],
    ['carries every cluster from 0 to 65535', async () => clusters(make)],
    ['writes 4 to 96 characters of [a-z0-9]', async () => alphabet(make)],
    ['keeps the labels apart', async () => labels(make)],
    ['reads only text[start, end) and changes nothing', async () => bounds(make)],
    ['gives routes that are the caller’s own', async () => ownership(make)],
    ['is total: never throws, and invents no route', async () => totality(make)],
    ['is the same in another thread, where it says how', async () => portability(make)],
  ]
  if (claims.authenticated !== false) {
    checks.push(
      ['takes no text with one character changed', async () => tampering(make)],
      ['takes no text that is longer or shorter than it wrote', async () => lengths(make)],
      ['decodes with every key it knows and with no other', async () => keys(make)],
    )
  }
  return checks
}

function route(address: string, cluster = 1, fill = 7): Route {
  const session = Uint8Array.from({ length: 8 }, (_, i) => (i * 31 + fill) & 255)
  return { cluster, address: parseAddress(address)!, session }
}

function decode(codec: RoutingCodec, text: string, label: RouteLabel): Route | undefined {
  const bytes = Buffer.from(text, 'latin1')
  return codec.decode(bytes, 0, bytes.length, label)
}

function same(got: Route | undefined, wanted: Route, what: string): void {
  assert.ok(got, `${what} did not decode`)
  assert.equal(got.cluster, wanted.cluster, `${what}: cluster`)
  assert.ok(got.address.equals(wanted.address), `${what}: ${got.address} for ${wanted.address}`)
  assert.equal(got.address.isIPv4, wanted.address.isIPv4, `${what}: family`)
  assert.deepEqual(Buffer.from(got.session), Buffer.from(wanted.session), `${what}: session`)
}

function roundTrip(make: Make): void {
  const [writer, reader] = [make('first'), make('first')]
  for (const label of LABELS) {
    for (const address of ADDRESSES) {
      const wanted = route(address)
      same(decode(reader, writer.encode(wanted, label), label), wanted, `${address} as ${label}`)
    }
  }
}

function clusters(make: Make): void {
  const codec = make('first')
  for (const cluster of [0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65534, 65535]) {
    const wanted = route('10.0.0.5:3478', cluster)
    same(decode(codec, codec.encode(wanted, 'ufrag'), 'ufrag'), wanted, `cluster ${cluster}`)
  }
}

function alphabet(make: Make): void {
  const codec = make('first')
  const random = new Prng(11)
  for (let i = 0; i < 200; i++) {
    const wanted = { ...route(random.pick(ADDRESSES), random.below(65536)), session: random.bytes(8) }
    for (const label of LABELS) assert.match(codec.encode(wanted, label), /^[a-z0-9]{4,96}$/)
  }
}

function labels(make: Make): void {
  const codec = make('first')
  for (const address of ADDRESSES) {
    const wanted = route(address)
    assert.equal(decode(codec, codec.encode(wanted, 'ufrag'), 'call'), undefined, 'a ufrag passed for a call')
    assert.equal(decode(codec, codec.encode(wanted, 'call'), 'ufrag'), undefined, 'a call passed for a ufrag')
  }
}

function bounds(make: Make): void {
  const codec = make('first')
  const wanted = route('10.0.0.5:3478')
  const text = codec.encode(wanted, 'ufrag')
  for (const around of ['', ':', 'a', 'zz9', '\u00ff\u0000']) {
    const bytes = Buffer.from(`${around}${text}${around}`, 'latin1')
    const before = Buffer.from(bytes)
    same(codec.decode(bytes, around.length, around.length + text.length, 'ufrag'), wanted, 'text amid others')
    assert.ok(bytes.equals(before), 'decode changed the bytes it was given')
  }
}

function ownership(make: Make): void {
  const codec = make('first')
  const one = route('10.0.0.5:3478', 1, 1)
  const two = route('[2001:db8::9]:9', 2, 99)
  const texts = [codec.encode(one, 'ufrag'), codec.encode(two, 'ufrag')] as const
  same(one, route('10.0.0.5:3478', 1, 1), 'the route after encode')
  const first = decode(codec, texts[0], 'ufrag')
  const second = decode(codec, texts[1], 'ufrag')
  same(first, one, 'a route after the next decode')
  second!.session.fill(0)
  same(decode(codec, texts[1], 'ufrag'), two, 'a route after its holder wrote to it')
}

function totality(make: Make): void {
  const codec = make('first')
  const random = new Prng(23)
  const own = codec.encode(route('10.0.0.5:3478'), 'ufrag')
  const calm = (bytes: Uint8Array, start: number, end: number): void => {
    for (const label of LABELS) {
      const got = codec.decode(bytes, start, end, label)
      assert.equal(got, undefined, `${Buffer.from(bytes).toString('hex')} [${start}, ${end}) decoded`)
    }
  }
  for (let i = 0; i < 3000; i++) {
    const bytes = random.bytes(random.below(140))
    calm(bytes, 0, bytes.length)
    // The same in the codec's own alphabet, which gets further in.
    for (let j = 0; j < bytes.length; j++) bytes[j] = own.charCodeAt(bytes[j]! % own.length)
    calm(bytes, 0, bytes.length)
  }
  calm(Buffer.from(own), 0, 0)
  calm(Buffer.from(own), 5, 5)
  calm(Buffer.from(own), 5, 2)
  calm(Buffer.from(own), 0, 1)
  calm(Buffer.from(own), own.length - 1, own.length + 60)
  calm(Buffer.alloc(4096, own.charCodeAt(0)), 0, 4096)
  calm(new Uint8Array(0), 0, 0)
}

async function portability(make: Make): Promise<void> {
  for (const keys of ['first', 'both'] as const) {
    const codec = make(keys)
    if (!codec.portable) return
    const fromPortable = await portableCodecs(codec.portable.module)
    const there = fromPortable(structuredClone(codec.portable.data))
    for (const label of LABELS) {
      const wanted = route('[2001:db8::1]:40000')
      same(decode(there, codec.encode(wanted, label), label), wanted, `a ${label} in the other thread`)
      same(decode(codec, there.encode(wanted, label), label), wanted, `a ${label} from the other thread`)
    }
    codec.portable.onChange?.(() => {})()
  }
}

function tampering(make: Make): void {
  const codec = make('first')
  for (const label of LABELS) {
    for (const address of ['10.0.0.5:3478', '[2001:db8::1]:40000']) {
      const text = codec.encode(route(address), label)
      for (let at = 0; at < text.length; at++) {
        const bytes = Buffer.from(text)
        for (let value = 0; value < 256; value++) {
          if (value === text.charCodeAt(at)) continue
          bytes[at] = value
          const got = codec.decode(bytes, 0, bytes.length, label)
          // Not even the same route: a second text for it would slip past limits that count by text.
          assert.equal(got, undefined, `byte ${value} at ${at} of a ${label} was taken`)
        }
      }
    }
  }
}

function lengths(make: Make): void {
  const codec = make('first')
  for (const address of ['10.0.0.5:3478', '[2001:db8::1]:40000']) {
    const text = codec.encode(route(address), 'ufrag')
    for (let length = 0; length < text.length; length++) {
      assert.equal(decode(codec, text.slice(0, length), 'ufrag'), undefined, `cut to ${length} it was taken`)
      assert.equal(
        decode(codec, text.slice(text.length - length), 'ufrag'),
        undefined,
        `its last ${length} were taken`,
      )
    }
    for (const more of ['a', '2', '=', ' ', '\0', 'aa', text]) {
      assert.equal(
        decode(codec, text + more, 'ufrag'),
        undefined,
        `with ${JSON.stringify(more)} behind it was taken`,
      )
      assert.equal(
        decode(codec, more + text, 'ufrag'),
        undefined,
        `with ${JSON.stringify(more)} in front it was taken`,
      )
    }
  }
}

function keys(make: Make): void {
  const [first, second, both] = [make('first'), make('second'), make('both')]
  const wanted = route('10.0.0.5:3478')
  for (const label of LABELS) {
    const byFirst = first.encode(wanted, label)
    const byBoth = both.encode(wanted, label)
    same(decode(both, byFirst, label), wanted, 'the old key’s text, where both are known,')
    same(decode(second, byBoth, label), wanted, 'the new key’s text, where both are known,')
    assert.equal(decode(second, byFirst, label), undefined, 'a text of an unknown key was taken')
    assert.equal(decode(first, byBoth, label), undefined, 'a text of an unknown key was taken')
  }
}
