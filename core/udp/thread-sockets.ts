/**
 * What the main thread owns of UDP that another thread reads and writes: sockets, the memory of the batch that was
 * received last, control words and counters. All of it outlives the thread, so that its successor goes on where it
 * stopped and loses no datagram: the kernel keeps what comes meanwhile.
 */

import type { UdpCounters } from '../contracts/udp-port.ts'
import { allowedCpus } from '../ffi/cpus.ts'
import type { Libc } from '../ffi/libc.ts'
import { memoryBytes } from '../ffi/message-memory.ts'
import { openUdpSocket, SocketRefusal, shareAddress } from '../ffi/udp-socket.ts'
import { WakeUp } from '../ffi/wake-up.ts'
import type { Address } from '../wire/address.ts'
import { takeEarlySocket } from './early-sockets.ts'
import { BATCH, CONTROL_BYTES, LoopControl } from './loop-control.ts'
import { openError } from './open-error.ts'
import { SharedCounters } from './shared-counters.ts'

const KERNEL_BUFFER = 4 * 1024 * 1024

/** A socket that some thread reads; the thread that opened it closes it. */
export interface ThreadSocket {
  readonly local: Address
  readonly counters: Readonly<UdpCounters>
  /** What the reading thread is given. */
  readonly shared: SharedSocket
  /** Others may have its address too from now on, by `reusePort`; until then nobody can join in. */
  share(): void
  close(): void
}

/** A socket on its way to another thread; clones as a message. */
export interface SharedSocket {
  readonly fd: number
  readonly isIPv4: boolean
  /** The last batch, as it was received. */
  readonly batch: SharedArrayBuffer
  readonly counters: SharedArrayBuffer
}

/** One thread's control: read it, stop it, wake it. */
export interface ThreadControl {
  readonly words: LoopControl
  /** What the thread is given. */
  readonly shared: SharedControl
  /** The thread's `onWake` runs soon. */
  wake(): void
  close(): void
}

/** A control on its way to another thread; clones as a message. */
export interface SharedControl {
  readonly words: SharedArrayBuffer
  readonly wakeFd: number
}

/** Opens sockets for threads. */
export interface ThreadUdp {
  /** The processors this process may use. */
  readonly cpus: readonly number[]
  /**
   * Opens a socket; with `reusePort` several share its address, and the kernel gives each client to one of them.
   * Throws EdgeError `address_in_use` or `address_unavailable`.
   */
  open(address: Address, options: { readonly reusePort: boolean }): ThreadSocket
  control(): ThreadControl
}

/** The means for it. */
export function threadUdp(calls: Libc): ThreadUdp {
  return {
    cpus: allowedCpus(calls),
    open: (address, { reusePort }) => open(calls, address, reusePort),
    control: () => control(calls),
  }
}

function open(calls: Libc, address: Address, reusePort: boolean): ThreadSocket {
  try {
    const batch = new SharedArrayBuffer(memoryBytes(BATCH))
    const counted = new SharedArrayBuffer(SharedCounters.BYTES)
    const counters = new SharedCounters(counted)
    const options = { receiveBuffer: KERNEL_BUFFER, sendBuffer: KERNEL_BUFFER, reusePort }
    const early = reusePort ? undefined : takeEarlySocket(address)
    const { fd, local } = early ?? openUdpSocket(calls, address, options)
    const shared = { fd, isIPv4: local.isIPv4, batch, counters: counted }
    const share = (): void => {
      if (!shareAddress(calls, fd))
        throw openError(local, undefined, new SocketRefusal('setsockopt', calls.errno()))
    }
    return { local, shared, counters, share, close: () => void calls.close(fd) }
  } catch (cause) {
    throw openError(address, cause instanceof SocketRefusal ? cause.code : undefined, cause)
  }
}

function control(calls: Libc): ThreadControl {
  const bell = new WakeUp(calls)
  const words = new SharedArrayBuffer(CONTROL_BYTES)
  return {
    words: new LoopControl(words),
    shared: { words, wakeFd: bell.fd },
    wake: () => bell.ring(),
    close: () => bell.close(),
  }
}
