/** The relay's options, as its operator writes them. */

import {
  type Address,
  checkAllow,
  checkFraming,
  macOption,
  notAnAddress,
  type Problem,
  parseAddress,
  parseCidr,
  type Static,
  Type,
} from '../../core/index.ts'
import { ClustersOption, checkClusters, InternalOption, SpreadOption } from './cluster-options.ts'
import { checkListen, ListenOption } from './listen-option.ts'
import { checkPorts } from './port-checks.ts'

/** The schema of the relay's options. */
export const Options = Type.Object({
  listen: ListenOption,
  upstream: Type.String({
    default: '127.0.0.1:0',
    description:
      'Internal ip:port of the framed socket towards transceivers; loopback reaches this machine alone. Port 0 takes any, a fixed one survives a restart, and each worker more takes the next.',
  }),
  allow: Type.Object(
    {
      cidrs: Type.Array(Type.String(), {
        default: ['127.0.0.0/8'],
        minItems: 1,
        description: 'Where transceivers are; a route that leads elsewhere is dropped.',
      }),
      ports: Type.String({
        default: '3479',
        description: 'The port that transceivers listen on, or a range of ports, 3479-3490.',
      }),
    },
    { default: {}, description: 'The only transceivers that this relay forwards to.' },
  ),
  framing: Type.Union([Type.Literal('spp'), Type.Literal('nat'), macOption()], {
    default: 'spp',
    description:
      'What stands in front of datagrams to transceivers, whose options must say the same. { mac } adds a key id and a tag; nat frames nothing and has a port for each client, for servers that know nothing of relays.',
  }),
  defaultUpstream: Type.Optional(
    Type.String({
      description:
        'With framing nat, the ip:port of the server that gets the clients whose ufrags are not ours.',
    }),
  ),
  clusters: Type.Optional(ClustersOption),
  internal: Type.Optional(InternalOption),
  spread: Type.Optional(SpreadOption),
  workers: Type.Union([Type.Literal('auto'), Type.Integer({ minimum: 0, maximum: 64 })], {
    default: 'auto',
    description:
      'Threads that forward; 0 forwards in the event loop, as framing nat does. auto is one thread where there are two processors or more.',
  }),
  pin: Type.Boolean({
    default: true,
    description: 'Two threads or more, and no more than processors, each stay on a processor of their own.',
  }),
  segments: Type.Boolean({
    default: false,
    description: 'With threads: datagrams of one size to one transceiver go to the kernel as one (UDP GSO).',
  }),
  coalesceMicroseconds: Type.Integer({
    minimum: 0,
    maximum: 300,
    default: 0,
    description:
      'With threads: the longest wait for more datagrams, which then share their system calls: less CPU a datagram, that much more delay.',
  }),
  maxFlows: Type.Integer({
    minimum: 16,
    maximum: 1_048_576,
    default: 65_536,
    description: 'Clients at a time; when full, the oldest that was never confirmed makes room.',
  }),
})

/** The relay's options with their defaults filled in. */
export type RelayPluginOptions = Static<typeof Options>

/** What the schema cannot say: addresses, CIDRs and ports must be such, and of one family with `upstream`. */
export function checkOptions(options: RelayPluginOptions): Problem[] {
  const problems: Problem[] = [
    ...checkListen(options.listen),
    ...checkFraming(options.framing),
    ...checkClusters(options),
    ...checkNat(options),
    ...checkPorts(options),
  ]
  const upstream = parseAddress(options.upstream)
  if (!upstream) problems.push(notAnAddress('/upstream', options.upstream, '10.0.0.4:3480 or 127.0.0.1:0'))
  problems.push(...checkAllow(options.allow))
  for (const [i, text] of options.allow.cidrs.entries()) {
    if (upstream?.isIPv4 && parseCidr(text)?.network.isIPv4 === false) {
      problems.push({
        pointer: `/allow/cidrs/${i}`,
        message: `"${text}" is IPv6, and "upstream" (${options.upstream}) reaches IPv4 only`,
        hint: 'set "upstream" to an IPv6 address, or [::]:0 for both families',
      })
    }
  }
  return problems
}

/** Servers behind `nat` know no frames, so neither relays nor tags; and what has a socket a client needs an event loop. */
function checkNat(options: RelayPluginOptions): Problem[] {
  const { framing, defaultUpstream, clusters, internal, workers } = options
  const problems: Problem[] = []
  if (framing === 'nat' && workers !== 'auto' && workers > 0) {
    problems.push({
      pointer: '/workers',
      message: 'with "nat" each client has a socket of its own, which the event loop reads',
      hint: 'leave out "workers"; a relay with threads needs servers that take frames',
    })
  }
  if (framing === 'nat' && (clusters || internal)) {
    problems.push({
      pointer: '/framing',
      message: '"nat" frames nothing, and relays of other clusters need frames',
      hint: 'leave out "clusters" and "internal", or run two relays',
    })
  }
  if (defaultUpstream === undefined) return problems
  const server = parseAddress(defaultUpstream)
  if (!server || server.isUnspecified || server.port === 0) {
    problems.push(notAnAddress('/defaultUpstream', defaultUpstream, '10.0.0.9:5000'))
  } else if (framing !== 'nat') {
    problems.push({
      pointer: '/defaultUpstream',
      message: 'it is for servers that know nothing of relays, and they take no frames',
      hint: 'add "framing": "nat"',
    })
  } else if (!reaches(options.upstream, server)) {
    problems.push({
      pointer: '/defaultUpstream',
      message: `"${defaultUpstream}" is another family than "upstream" (${options.upstream}), whose ip it is reached from`,
      hint: 'set "upstream" to an ip of the same family, with port 0',
    })
  }
  return problems
}

/** Whether a socket at `from` can have anything to do with `to` at all: it has the family, or both as \`[::]\`. */
function reaches(from: string, to: Address): boolean {
  const address = parseAddress(from)
  return !address || address.isIPv4 === to.isIPv4 || (address.isUnspecified && !address.isIPv4)
}
