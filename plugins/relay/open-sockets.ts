/** Sockets that are opened together: all of them or none. */

import { type Address, EdgeError, parseAddress, type ThreadSocket, type ThreadUdp } from '../../core/index.ts'

/** What is open so far. */
export class OpenSockets<S extends { close(): Promise<void> | void }> {
  readonly #open: S[] = []

  /** One more; returns it. */
  add<T extends S>(socket: T): T {
    this.#open.push(socket)
    return socket
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((socket) => socket.close()))
  }
}

/**
 * A socket for each thread, all of one address, and the kernel gives each sender to one of them. The first had it alone:
 * the kernel lets anybody of ours join a shared one. Throws as `ThreadUdp.open` does, and leaves none open.
 */
export function openGroup(udp: ThreadUdp, address: Address, threads: number): ThreadSocket[] {
  const first = udp.open(address, { reusePort: false })
  const group = [first]
  try {
    if (threads > 1) first.share()
    while (group.length < threads) group.push(udp.open(first.local, { reusePort: true }))
    return group
  } catch (error) {
    for (const socket of group) socket.close()
    throw error
  }
}

/** The address so many ports behind `base`; port 0 takes any, for each. */
export function behind(base: Address, ports: number): Address {
  return base.port === 0 ? base : base.clone().set(base.w0, base.w1, base.w2, base.w3, base.port + ports)
}

/** An address that the options' check has already read. */
export function known(text: string): Address {
  const address = parseAddress(text)
  if (address === undefined) throw new EdgeError('config_invalid', `"${text}" is not an ip:port`)
  return address
}
