/**
 * Finds the relays of other clusters by their names, away from the packet path: at the start, and again in the
 * background. What was found stays while a name cannot be resolved. Failures are told once each, and their end.
 */

import { lookup } from 'node:dns/promises'
import { type Address, type Context, toAddress } from '../../core/index.ts'
import { type ClusterOptions, parseHostPort } from './cluster-options.ts'
import type { OtherClusters } from './pure/other-clusters.ts'

const AGAIN_MS = 10_000

/** Gives the ips of a host, the best first; rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** The system's own way. */
export const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address)

/**
 * `clusters` without our own: all relays may share one list, and a route of our own cluster leads to its transceiver,
 * whatever that says.
 */
export function otherNames({ clusters = {} }: ClusterOptions, own: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(clusters).filter(([cluster]) => Number(cluster) !== own))
}

/** Which addresses a socket that is bound to `local` can send to. */
export function reachedFrom(local: Address): (address: Address) => boolean {
  const isDual = local.isUnspecified && !local.isIPv4
  return (address) => isDual || address.isIPv4 === local.isIPv4
}

/** Keeps `clusters` up to date. */
export class ClusterNames {
  readonly #names: ReadonlyMap<number, string>
  readonly #clusters: OtherClusters
  readonly #log: Context['log']
  readonly #reaches: (address: Address) => boolean
  readonly #resolve: Resolve
  readonly #failing = new Set<number>()
  /** Asked for and not answered yet: a resolver that is slow is not sent more than it answers. */
  readonly #asked = new Set<number>()
  readonly #timer: NodeJS.Timeout
  #isClosed = false

  /** `names` is cluster → host:port; `reaches` says which addresses our sockets can send to. */
  constructor(options: {
    readonly names: Readonly<Record<string, string>>
    readonly clusters: OtherClusters
    readonly log: Context['log']
    reaches(address: Address): boolean
    readonly resolve?: Resolve
    readonly againMs?: number
  }) {
    this.#names = new Map(Object.entries(options.names).map(([cluster, name]) => [Number(cluster), name]))
    this.#clusters = options.clusters
    this.#log = options.log
    this.#reaches = options.reaches
    this.#resolve = options.resolve ?? resolveHost
    this.refresh()
    this.#timer = setInterval(() => this.refresh(), options.againMs ?? AGAIN_MS)
    this.#timer.unref()
  }

  /** Asks for all of them. Returns at once; addresses that are written down are there then. */
  refresh(): void {
    for (const [cluster, name] of this.#names) if (!this.#asked.has(cluster)) void this.#find(cluster, name)
  }

  /** Asks no more; what is still answered comes to nothing. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
  }

  async #find(cluster: number, name: string): Promise<void> {
    const { host, port } = parseHostPort(name)!
    const literal = toAddress(host, port)
    if (literal && this.#reaches(literal)) {
      this.#clusters.set(cluster, literal)
      return
    }
    this.#asked.add(cluster)
    try {
      const ips = literal ? [literal.host] : await this.#resolve(host)
      if (!this.#isClosed) this.#set(cluster, name, this.#usable(ips, port))
    } catch (error) {
      if (!this.#isClosed) this.#fail(cluster, name, error)
    } finally {
      this.#asked.delete(cluster)
    }
  }

  /** Those that our sockets reach; throws when there are none. */
  #usable(ips: readonly string[], port: number): readonly Address[] {
    const found = ips.flatMap((ip) => toAddress(ip, port) ?? [])
    const usable = found.filter((address) => this.#reaches(address))
    if (usable.length > 0) return usable
    throw new Error(`"spread", or else "upstream", reaches no address of this family: ${found.join(', ')}`)
  }

  #fail(cluster: number, name: string, error: unknown): void {
    if (this.#failing.has(cluster)) return
    this.#failing.add(cluster)
    const reason = error instanceof Error ? error.message : String(error)
    this.#log.warn(
      { cluster, name, reason },
      'the relay of another cluster cannot be found, and is looked for again every 10 s',
    )
  }

  /** The one in use stays as long as the name has it: several addresses come in any order. */
  #set(cluster: number, name: string, found: readonly Address[]): void {
    const known = this.#clusters.relayOf(cluster)
    const address = found.find((one) => known?.equals(one)) ?? found[0]!
    this.#clusters.set(cluster, address)
    if (this.#failing.delete(cluster) || !known?.equals(address)) {
      this.#log.info({ cluster, name, address }, 'the relay of another cluster is found')
    }
  }
}
