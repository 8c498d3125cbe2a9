/** The options of a relay that works with the relays of other clusters. */

import {
  checkCidrs,
  notAnAddress,
  type Problem,
  parseAddress,
  parseCidr,
  type Static,
  Type,
} from '../../core/index.ts'

/** Ports that datagrams to relays are spread over: one 4-tuple lands on one worker there. */
export const SPREAD = 16

const CLUSTER = /^(0|[1-9]\d{0,4})$/

/** The schema of `clusters`. */
export const ClustersOption = Type.Record(Type.String({ pattern: '^[0-9]{1,5}$' }), Type.String(), {
  description:
    'Relays of other clusters: cluster number → host:port of its relay’s `internal` socket. Ufrags of those clusters go there.',
})

/** The schema of `internal`. */
export const InternalOption = Type.Object(
  {
    listen: Type.String({ description: 'Internal ip:port that relays of other clusters send to.' }),
    cidrs: Type.Array(Type.String(), {
      minItems: 1,
      description: 'Where those relays are; framed packets from elsewhere are dropped.',
    }),
  },
  { additionalProperties: false, description: 'Takes clients’ packets from relays of other clusters.' },
)

/** The schema of `spread`. */
export const SpreadOption = Type.String({
  description:
    'With clusters, the internal ip:port of the first of 16 sockets towards their relays, at ports behind one another; default: the ip of `upstream`, any ports.',
})

/** The three of them. */
export interface ClusterOptions {
  readonly clusters?: Static<typeof ClustersOption>
  readonly internal?: Static<typeof InternalOption>
  readonly spread?: string
}

/** A host and a port. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** `host:port` or `[ipv6]:port`; undefined for anything else. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  return match && port > 0 && port <= 65_535 ? { host: (match[1] ?? match[2])!, port } : undefined
}

/** A JSON pointer (RFC 6901). */
function placeOf(cluster: string): string {
  return `/clusters/${cluster.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** What the schema cannot say. */
export function checkClusters({ clusters, internal, spread }: ClusterOptions): Problem[] {
  const problems: Problem[] = []
  for (const [number, text] of Object.entries(clusters ?? {})) {
    if (!CLUSTER.test(number) || Number(number) > 65_535) {
      const message = `"${number}" is no cluster: they are 0 to 65535`
      const hint = 'the number that is in its "node": { "cluster": … }'
      problems.push({ pointer: placeOf(number), message, hint })
    }
    if (parseHostPort(text)) continue
    const hint = 'for example relay.eu.internal:3490, or 10.2.0.4:3490'
    problems.push({ pointer: placeOf(number), message: `"${text}" is not a host:port`, hint })
  }
  const listen = internal && parseAddress(internal.listen)
  if (internal && (!listen || listen.isUnspecified)) {
    const message = `"${internal.listen}" is not an ip:port that answers can come from`
    problems.push({ pointer: '/internal/listen', message, hint: 'for example 10.2.0.4:3490' })
  }
  problems.push(...checkCidrs('/internal/cidrs', internal?.cidrs ?? [], '10.1.0.0/16 or fd00::/8'))
  return [...problems, ...familiesOf(internal), ...checkSpread(spread, clusters !== undefined)]
}

/** A socket hears one family, or both where it is `[::]`, which `internal` cannot be. */
function familiesOf(internal: ClusterOptions['internal']): Problem[] {
  const listen = internal && parseAddress(internal.listen)
  if (!internal || !listen) return []
  const isOther = (text: string): boolean =>
    (parseCidr(text)?.network.isIPv4 ?? listen.isIPv4) !== listen.isIPv4
  return internal.cidrs.flatMap((text, i) => {
    if (!isOther(text)) return []
    const pointer = `/internal/cidrs/${i}`
    const message = `"${text}" is another family than "listen" (${internal.listen}), which hears nothing from there`
    return [{ pointer, message, hint: 'list where relays send from, in the family of "listen"' }]
  })
}

function checkSpread(spread: string | undefined, hasClusters: boolean): Problem[] {
  if (spread === undefined) return []
  if (!parseAddress(spread)) return [notAnAddress('/spread', spread, '10.1.0.4:3500, for ports 3500 to 3515')]
  if (hasClusters) return []
  const message = 'it is for sending to relays of other clusters, and there are none'
  return [{ pointer: '/spread', message, hint: 'add "clusters", or leave it out' }]
}
