/** Wakes a thread that waits in a poll set, by an `eventfd`: many calls before it looks are one. */

import type { Libc } from './libc.ts'
import { addressOf, nativeBuffer } from './native.ts'
import { SocketRefusal } from './udp-socket.ts'

const EFD_NONBLOCK = 0o4000
const EFD_CLOEXEC = 0o2000000

/** One thread's bell. The thread that opened it closes it; others use it by its descriptor. */
export class WakeUp {
  readonly fd: number
  readonly #libc: Libc
  readonly #memory = nativeBuffer(8)

  /** Opens one; throws SocketRefusal. With `fd` it is one that is open already. */
  constructor(libc: Libc, fd = libc.eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (fd < 0) throw new SocketRefusal('eventfd', libc.errno())
    this.#libc = libc
    this.fd = fd
  }

  /** Rings. */
  ring(): void {
    this.#memory.fill(0)
    this.#memory[0] = 1
    this.#libc.write(this.fd, addressOf(this.#memory), 8)
  }

  /** It has been heard: the descriptor is not readable until it rings again. */
  heard(): void {
    this.#libc.read(this.fd, addressOf(this.#memory), 8)
  }

  close(): void {
    this.#libc.close(this.fd)
  }
}
