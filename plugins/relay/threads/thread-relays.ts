/** A thread's part between relays: which of its loop's sockets are theirs, and what leaves by these. */

import { type DatagramLoop, parseAddress, parseCidrs } from '../../../core/index.ts'
import type { RelayOutputs } from '../forwarder.ts'
import { OtherClusters } from '../pure/other-clusters.ts'
import { KeptHeaders } from './kept-headers.ts'
import type { ClusterText, ThreadData } from './messages.ts'

/** The relays of other clusters as the main thread knew them. */
export function clustersOf(known: readonly ClusterText[]): OtherClusters {
  const clusters = new OtherClusters(known.map(({ cluster }) => cluster))
  for (const one of known) findCluster(clusters, one)
  return clusters
}

/** Takes in where a cluster's relay is. */
export function findCluster(clusters: OtherClusters, { cluster, relay }: ClusterText): void {
  const address = relay === undefined ? undefined : parseAddress(relay)
  if (address) clusters.set(cluster, address)
}

/** What a thread has to do with other relays. */
export class ThreadRelays {
  /** The socket that hears them, by its place among the loop's; -1 when there is none. */
  readonly internal: number
  readonly outputs: RelayOutputs
  readonly #loop: DatagramLoop
  readonly #kept: KeptHeaders

  constructor(loop: DatagramLoop, { locals, relays, loop: { sockets } }: ThreadData) {
    const next = locals.length + 1
    const { trusted, spread } = relays
    this.internal = trusted === undefined ? -1 : next
    this.#loop = loop
    this.#kept = new KeptHeaders(sockets.map(({ batch }) => batch))
    const first = sockets.length - spread
    this.outputs = {
      trusted: parseCidrs(trusted ?? []),
      ports: spread,
      across: (port, _bytes, start, end, to) => loop.forward(first + port, start, end, to),
      back: (_bytes, start, end, to) => loop.forward(next, start, end, to),
      keep: (bytes, start) => this.#kept.keep(loop.batch, bytes, start),
    }
  }

  /** A framed datagram came to a socket: it is as it came, whoever has begun with it. */
  begin(socket: number, bytes: Uint8Array, start: number): void {
    this.#kept.at(socket)
    if (this.#loop.isResuming) this.#kept.restore(this.#loop.batch, bytes, start)
  }
}
