/** The transceiver's internal ports: UDP for the calls, and TCP with the same number for the control port if there is one. */

import {
  Address,
  type Context,
  EdgeError,
  framing,
  keysOf,
  parseAddress,
  parseCidrs,
} from '../../core/index.ts'
import { ControlListener } from './control/listener.ts'
import type { TransceiverOptions } from './options.ts'
import { type SocketReceiver, TransceiverSocket } from './socket.ts'

/** How many ports are tried where any will do. */
const TRIES = 8

/** What is open. */
export interface Ports {
  readonly socket: TransceiverSocket
  /** Undefined without `control` in the options. */
  readonly control: ControlListener | undefined
}

/** Opens them. Rejects with EdgeError `address_in_use`, `address_unavailable` or `openssl_unavailable`; nothing stays open then. */
export async function openPorts(
  options: TransceiverOptions,
  { udp }: Pick<Context, 'udp'>,
  receiver: SocketReceiver,
): Promise<Ports> {
  const address = parseAddress(options.listen)
  if (!address) throw new EdgeError('config_invalid', `"${options.listen}" is not an ip:port`)
  const relays = parseCidrs(options.relays)
  const frames = framing(keysOf(options.framing), 'down')
  for (let tries = 1; ; tries++) {
    const socket = await TransceiverSocket.open(
      { engine: udp, address, relays, direct: options.direct, framing: frames },
      receiver,
    )
    if (!options.control) return { socket, control: undefined }
    try {
      const control = await ControlListener.bind(samePort(address, socket.local))
      return { socket, control }
    } catch (error) {
      await socket.close()
      // A port that the system chose for UDP may be in use for TCP.
      if (address.port !== 0 || tries === TRIES) throw error
    }
  }
}

/** Where relays and other transceivers find this one: what its calls' routes say. */
export function announced(options: TransceiverOptions, local: Address): Address {
  return (options.announce === undefined ? undefined : parseAddress(options.announce)) ?? local
}

function samePort(address: Address, { port }: Address): Address {
  const { w0, w1, w2, w3 } = address
  return new Address().set(w0, w1, w2, w3, port)
}
