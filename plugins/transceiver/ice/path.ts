/**
 * Where an answer goes: back the way a datagram came. Pure.
 */

import type { Address } from '../../../core/index.ts'

/** A way to a client. A received one may be reused by who received it: `clonePath` it to keep it. */
export interface Path {
  /** The relay socket that passed it on; undefined for a direct client, whose packets carry no framing. */
  readonly relay: Address | undefined
  /** The address the client sent to. */
  readonly local: Address
  readonly client: Address
}

/** Same client, same address it sent to, same relay socket. */
export function samePath(a: Path, b: Path): boolean {
  return sameEnds(a, b) && sameRelay(a, b)
}

/** Same client and same address it sent to, by whatever relay. */
export function sameEnds(a: Path, b: Path): boolean {
  return a.client.equals(b.client) && a.local.equals(b.local)
}

function sameRelay(a: Path, b: Path): boolean {
  if (a.relay === undefined || b.relay === undefined) return a.relay === b.relay
  return a.relay.equals(b.relay)
}

/** An equal path that nobody changes. */
export function clonePath(path: Path): Path {
  return { relay: path.relay?.clone(), local: path.local.clone(), client: path.client.clone() }
}
