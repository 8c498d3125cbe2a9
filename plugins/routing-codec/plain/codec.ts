/**
 * Route ⇄ readable text, `plainu1a127o0o0o1p3479s0102030405060708`: label, cluster, ip, port, session. A route has one
 * spelling, and any other reads as none. It protects nothing. Pure.
 */

import {
  type Address,
  type Route,
  type RouteLabel,
  type RoutingCodec,
  toAddress,
} from '../../../core/index.ts'

const SESSION = 8
const SHAPE =
  /^plain([uc])(0|[1-9]\d{0,4})a(?:((?:\d{1,3}o){3}\d{1,3})|([0-9a-f]{32}))p(0|[1-9]\d{0,4})s([0-9a-f]{16})$/
const LONGEST = 96
const LETTERS: Readonly<Record<RouteLabel, string>> = { ufrag: 'u', call: 'c' }

/** The codec. It has no state. */
export const plainCodec: RoutingCodec = Object.freeze({
  encode,
  decode,
  portable: { module: import.meta.url, data: undefined },
})

/** The same in another thread. */
export const fromPortable = (): RoutingCodec => plainCodec

function encode({ cluster, address, session }: Route, label: RouteLabel): string {
  if (session.length !== SESSION) throw new RangeError(`a session has ${SESSION} bytes`)
  const id = Buffer.from(session).toString('hex')
  return `plain${LETTERS[label]}${cluster}a${hostText(address)}p${address.port}s${id}`
}

function decode(text: Uint8Array, start: number, end: number, label: RouteLabel): Route | undefined {
  if (start < 0 || end > text.length || end - start > LONGEST) return undefined
  const match = SHAPE.exec(
    Buffer.from(text.buffer, text.byteOffset, text.length).toString('latin1', start, end),
  )
  if (!match || match[1] !== LETTERS[label]) return undefined
  const cluster = Number(match[2])
  const address = toAddress(match[3]?.replaceAll('o', '.') ?? colons(match[4]!), Number(match[5]))
  if (cluster > 65_535 || !address || hostText(address) !== (match[3] ?? match[4])) return undefined
  return { cluster, address, session: Uint8Array.from(Buffer.from(match[6]!, 'hex')) }
}

function hostText(address: Address): string {
  if (address.isIPv4) return address.host.replaceAll('.', 'o')
  const bytes = Buffer.alloc(16)
  address.write(bytes, 0)
  return bytes.toString('hex')
}

function colons(hex: string): string {
  return hex.replace(/.{4}(?=.)/g, '$&:')
}
