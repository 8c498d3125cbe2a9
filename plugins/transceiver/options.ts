/** The transceiver's options, as its operator writes them. */

import {
  checkCidrs,
  checkFraming,
  macOption,
  notAnAddress,
  type Problem,
  parseAddress,
  type Static,
  Type,
} from '../../core/index.ts'
import { ControlOptions, checkControl } from './control/options.ts'
import { OpusOption } from './media/options.ts'
import { ClientSecretKeysOption, LimitsOption } from './signaling/options.ts'

/** The schema of the transceiver's options. */
export const Options = Type.Object({
  listen: Type.String({
    default: '127.0.0.1:3479',
    description: 'Internal ip:port of the one UDP socket that serves every session; relays send to it.',
  }),
  announce: Type.Optional(
    Type.String({
      description:
        'The ip:port at which relays reach this socket, where it is not what `listen` says (0.0.0.0, a pod behind NAT).',
    }),
  ),
  relays: Type.Array(Type.String(), {
    default: ['127.0.0.0/8', '::1/128'],
    description: 'CIDRs from which framed packets are taken: your relays, nobody else.',
  }),
  framing: Type.Union([Type.Literal('spp'), macOption()], {
    default: 'spp',
    description:
      'How relays frame packets; the same as in their options. { mac } adds a key id and a tag to each.',
  }),
  direct: Type.Boolean({
    default: false,
    description: 'Also take packets straight from clients, without a relay. For development only.',
  }),
  maxCalls: Type.Integer({
    minimum: 1,
    maximum: 100000,
    default: 500,
    description: 'More calls than this are refused with 503 and Retry-After.',
  }),
  connectSeconds: Type.Integer({
    minimum: 1,
    maximum: 600,
    default: 30,
    description: 'A call that is not connected this long after its offer ends.',
  }),
  maxCallSeconds: Type.Integer({
    minimum: 1,
    maximum: 86400,
    default: 3600,
    description: 'A call ends after this long.',
  }),
  opus: OpusOption,
  limits: LimitsOption,
  clientSecretKeys: ClientSecretKeysOption,
  control: Type.Optional(ControlOptions),
})

/** The transceiver's options with their defaults filled in. */
export type TransceiverOptions = Static<typeof Options>

/** What the schema cannot say: addresses must be addresses, and an unspecified one needs `announce`. */
export function checkOptions(options: TransceiverOptions): Problem[] {
  const problems: Problem[] = checkFraming(options.framing)
  const listen = parseAddress(options.listen)
  if (!listen) {
    problems.push(notAnAddress('/listen', options.listen, '10.0.0.5:3479, or [fd00::5]:3479'))
  }
  const announce = options.announce === undefined ? undefined : parseAddress(options.announce)
  if (options.announce !== undefined && (!announce || announce.isUnspecified || announce.port === 0)) {
    problems.push({
      pointer: '/announce',
      message: `"${options.announce}" is not an ip:port that a relay could send to`,
      hint: 'for example 10.0.0.5:3479',
    })
  }
  if (listen?.isUnspecified && options.announce === undefined) {
    problems.push({
      pointer: '/listen',
      message: `"${options.listen}" does not say where relays find this transceiver`,
      hint: 'add "announce": "<the ip:port that relays reach>", or listen on a specific ip',
    })
  }
  problems.push(...checkCidrs('/relays', options.relays))
  const control = options.control ? checkControl(options.control) : []
  for (const problem of control) problems.push({ ...problem, pointer: `/control${problem.pointer}` })
  return problems
}
