/** Opens UDP sockets by their descriptors, for engines that read and write them in batches. Linux. */

import { getSystemErrorName } from 'node:util'
import { Address } from '../wire/address.ts'
import type { Libc } from './libc.ts'
import { addressOf, nativeBuffer } from './native.ts'
import { AF_INET, AF_INET6, NAME_SIZE, nameLength, readName, writeName } from './socket-name.ts'

const SOCK_DGRAM = 2
const SOCK_NONBLOCK = 0o4000
const SOCK_CLOEXEC = 0o2000000
const SOL_SOCKET = 1
const SO_SNDBUF = 7
const SO_RCVBUF = 8
const SO_REUSEPORT = 15
const SO_SNDBUFFORCE = 32
const SO_RCVBUFFORCE = 33
const IPPROTO_IPV6 = 41
const IPV6_V6ONLY = 26

/** An open socket. Whoever opened it closes it. */
export interface UdpSocket {
  readonly fd: number
  /** With the port that was really given. */
  readonly local: Address
}

/** How to open one. */
export interface UdpSocketOptions {
  /** In bytes; the kernel grants no more than its own limit. */
  readonly receiveBuffer: number
  readonly sendBuffer: number
  /** Several sockets share the address, and each gets the clients that hash to it. */
  readonly reusePort?: boolean
}

/** A refusal by the kernel, by its name: EADDRINUSE, EACCES and so on. */
export class SocketRefusal extends Error {
  override readonly name = 'SocketRefusal'
  readonly code: string

  constructor(call: string, errno: number) {
    const code = getSystemErrorName(-errno)
    super(`${call} ${code}`)
    this.code = code
  }
}

/** Opens a socket at an address: `::` hears both families, every other one its own. Throws SocketRefusal. */
export function openUdpSocket(libc: Libc, address: Address, options: UdpSocketOptions): UdpSocket {
  const family = address.isIPv4 ? AF_INET : AF_INET6
  const fd = libc.socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
  if (fd < 0) throw new SocketRefusal('socket', libc.errno())
  try {
    const memory = nativeBuffer(2 * NAME_SIZE)
    const words = new Uint32Array(memory.buffer)
    const base = addressOf(memory)
    const set = (level: number, name: number, value: number): boolean => {
      words[0] = value
      return libc.setsockopt(fd, level, name, base, 4) === 0
    }
    if (family === AF_INET6) set(IPPROTO_IPV6, IPV6_V6ONLY, address.isUnspecified ? 0 : 1)
    if (options.reusePort && !set(SOL_SOCKET, SO_REUSEPORT, 1)) {
      throw new SocketRefusal('setsockopt', libc.errno())
    }
    // Beyond the system's limit where the process may (CAP_NET_ADMIN), up to it everywhere.
    if (!set(SOL_SOCKET, SO_RCVBUFFORCE, options.receiveBuffer)) {
      set(SOL_SOCKET, SO_RCVBUF, options.receiveBuffer)
    }
    if (!set(SOL_SOCKET, SO_SNDBUFFORCE, options.sendBuffer)) set(SOL_SOCKET, SO_SNDBUF, options.sendBuffer)
    writeName(words, 0, family, address)
    if (libc.bind(fd, base, nameLength(family)) !== 0) throw new SocketRefusal('bind', libc.errno())
    return { fd, local: boundTo(libc, fd, words, base) }
  } catch (error) {
    libc.close(fd)
    throw error
  }
}

/** Lets sockets that are opened with `reusePort` from now on have this one's address too; false when refused. */
export function shareAddress(libc: Libc, fd: number): boolean {
  const memory = nativeBuffer(4)
  memory[0] = 1
  return libc.setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, addressOf(memory), 4) === 0
}

function boundTo(libc: Libc, fd: number, words: Uint32Array, base: number): Address {
  words[NAME_SIZE >>> 2] = NAME_SIZE
  const local = new Address()
  if (libc.getsockname(fd, base, base + NAME_SIZE) !== 0) throw new SocketRefusal('getsockname', libc.errno())
  readName(words, 0, local)
  return local
}
