/** Route ⇄ text: what is put into the server's ICE ufrag, and into a call's id. */

import { service } from '../service.ts'
import type { Address } from '../wire/address.ts'

/** Where a call lives. */
export interface Route {
  /** 0 to 65535. */
  readonly cluster: number
  /** The transceiver's internal ip:port. */
  readonly address: Address
  /** 8 random bytes. */
  readonly session: Uint8Array
}

/** What a text is for; a text made for one use does not decode as the other. */
export type RouteLabel = 'ufrag' | 'call'

/** Puts a route into text and takes it out again. Synchronous, total and free of I/O. */
export interface RoutingCodec {
  /** 4 to 96 characters of [a-z0-9], legal in an ICE ufrag (RFC 8839 §5.4) and in a URL. */
  encode(route: Route, label: RouteLabel): string
  /**
   * The route in text[start, end), or undefined for anything this codec did not write under this label.
   * Never throws, whatever the bytes.
   */
  decode(text: Uint8Array, start: number, end: number, label: RouteLabel): Route | undefined
  /** How an equal codec is made in another thread. A relay with a codec that has none runs in the event loop. */
  readonly portable?: PortableCodec
}

/** A codec on its way to another thread. */
export interface PortableCodec {
  /** The URL of a module whose export `fromPortable(data: unknown): RoutingCodec` makes it: `import.meta.url`, say. */
  readonly module: string
  /** What it is made from, as it is now: anything that `structuredClone` takes, shared memory too. */
  readonly data: unknown
  /** Calls `listener` whenever `data` has changed, keys for instance, until the function it returns is called. */
  onChange?(listener: () => void): () => void
}

/** The service key of the routing codec. */
export const RoutingCodec = service<RoutingCodec>('routing-codec')
