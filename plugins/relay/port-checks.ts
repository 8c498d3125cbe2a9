/** What the schema cannot say of the relay's sockets: there are ports for all of them, and none is wanted twice. Pure. */

import { type Address, type Problem, parseAddress } from '../../core/index.ts'
import { SPREAD } from './cluster-options.ts'
import type { RelayPluginOptions } from './options.ts'

const LAST_PORT = 65_535

/** The sockets that one option asks for: so many ports, one behind the other. */
interface Wanted {
  /** Below the relay's options. */
  readonly pointer: string
  readonly option: string
  readonly address: Address
  readonly ports: number
}

/** Every port of every socket must be one, and belong to one option. What is no ip:port is told of elsewhere. */
export function checkPorts(options: RelayPluginOptions): Problem[] {
  const wanted = sockets(options).filter(({ address }) => address.port !== 0)
  const beyond = wanted.filter(({ address, ports }) => address.port + ports - 1 > LAST_PORT)
  const twice = wanted.flatMap((one, i) => {
    const other = wanted.slice(0, i).find((before) => before.option !== one.option && clash(before, one))
    return other ? [taken(one, other)] : []
  })
  return [...beyond.map(tooHigh), ...twice]
}

function sockets({
  listen,
  upstream,
  internal,
  spread,
  clusters,
  workers,
  framing,
}: RelayPluginOptions): Wanted[] {
  const threads = workers === 'auto' || framing === 'nat' ? 1 : Math.max(1, workers)
  const one = (option: string, text: string | undefined, pointer = `/${option}`, ports = 1): Wanted[] => {
    const address = text === undefined ? undefined : parseAddress(text)
    return address ? [{ pointer, option, address, ports }] : []
  }
  return [
    ...listen.flatMap((entry, i) =>
      one('listen', typeof entry === 'string' ? entry : entry.bind, `/listen/${i}`),
    ),
    ...one('upstream', upstream, '/upstream', threads),
    ...one('internal', internal?.listen, '/internal/listen'),
    ...one('spread', clusters && spread, '/spread', Math.max(SPREAD, threads)),
  ]
}

function clash(a: Wanted, b: Wanted): boolean {
  const first = Math.max(a.address.port, b.address.port)
  const last = Math.min(a.address.port + a.ports, b.address.port + b.ports) - 1
  if (first > last) return false
  const isAny = a.address.isUnspecified || b.address.isUnspecified
  return a.address.sameHost(b.address) || (isAny && a.address.isIPv4 === b.address.isIPv4)
}

const range = ({ address, ports }: Wanted): string =>
  ports === 1 ? `port ${address.port}` : `ports ${address.port} to ${address.port + ports - 1}`

function taken(one: Wanted, other: Wanted): Problem {
  return {
    pointer: one.pointer,
    message: `it takes ${range(one)}, and "${other.option}" ${range(other)} of the same address`,
    hint: 'choose another port for one of them',
  }
}

function tooHigh({ pointer, address, ports }: Wanted): Problem {
  return {
    pointer,
    message: `it takes ${ports} ports, and there are none above ${LAST_PORT}`,
    hint: `choose ${LAST_PORT - ports + 1} or less instead of ${address.port}, or 0 for any`,
  }
}
