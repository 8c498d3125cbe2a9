/** The `listen` option: which public sockets there are, and by which addresses clients know them. */

import {
  type Address,
  notAnAddress,
  type Problem,
  parseAddress,
  type Static,
  Type,
} from '../../core/index.ts'

const Advertised = Type.Object({
  bind: Type.String({ description: 'The ip:port of the socket on this machine, such as 10.1.2.3:3478.' }),
  advertise: Type.String({
    description:
      'The ip:port that clients send to, a load balancer’s; every relay behind it must name the same.',
  }),
})

/** The schema of `listen`. */
export const ListenOption = Type.Array(Type.Union([Type.String(), Advertised]), {
  default: ['0.0.0.0:3478'],
  minItems: 1,
  maxItems: 16,
  description:
    'Public ip:port pairs that clients send to; 0.0.0.0 or [::] stands for every address of this machine. { bind, advertise } where clients know a socket by another address.',
})

/** The sockets as the operator listed them. */
export type ListenOption = Static<typeof ListenOption>

/** What the schema cannot say: addresses must be such, and each lead to one socket. */
export function checkListen(listen: ListenOption): Problem[] {
  const problems: Problem[] = []
  const binds: (Address | undefined)[] = []
  const names: (Address | undefined)[] = []
  for (const [i, entry] of listen.entries()) {
    const isPair = typeof entry !== 'string'
    const text = isPair ? entry.bind : entry
    const at = isPair ? `/listen/${i}/bind` : `/listen/${i}`
    const bind = parseAddress(text)
    if (!bind) problems.push(notAnAddress(at, text, isPair ? '10.1.2.3:3478' : '0.0.0.0:3478 or [::]:3478'))
    else if (isPair && bind.isUnspecified) problems.push(ambiguous(at, text))
    else if (repeats(binds, bind)) problems.push(repeated(at, text))
    binds.push(bind)
    const advertise = isPair ? parseAddress(entry.advertise) : bind
    if (isPair) problems.push(...checkAdvertised(`/listen/${i}/advertise`, entry.advertise, names))
    names.push(advertise)
  }
  return problems
}

function checkAdvertised(pointer: string, text: string, names: readonly (Address | undefined)[]): Problem[] {
  const address = parseAddress(text)
  if (!address || address.isUnspecified || address.port === 0) {
    return [notAnAddress(pointer, text, '203.0.113.10:3478, the load balancer’s ip:port')]
  }
  return repeats(names, address) ? [repeated(pointer, text)] : []
}

function repeats(known: readonly (Address | undefined)[], address: Address): boolean {
  return address.port !== 0 && known.some((other) => other?.equals(address))
}

/** Framed packets from transceivers name the advertised address alone: it must lead to one socket. */
function ambiguous(pointer: string, text: string): Problem {
  return {
    pointer,
    message: `"${text}" stands for several sockets, and one advertised address can lead to one only`,
    hint: 'bind a specific ip, such as ${POD_IP}:3478',
  }
}

function repeated(pointer: string, text: string): Problem {
  return { pointer, message: `"${text}" is listed twice`, hint: 'list each address once' }
}
