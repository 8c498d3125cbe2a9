/**
 * A thread of its own that forwards datagrams between sockets: poll, receive a batch, hand each over, send all that was
 * forwarded, in place. It blocks, at most 50 ms at a time, so the thread has no event loop; what others want of it they
 * say by waking it. Nothing is allocated after construction.
 */

import { HEAD_ROOM } from '../contracts/udp-port.ts'
import { pinThread } from '../ffi/cpus.ts'
import { ForwardVector } from '../ffi/forward-vector.ts'
import { type Libc, libc } from '../ffi/libc.ts'
import { ReceiveVector } from '../ffi/message-vector.ts'
import { PollSet } from '../ffi/poll-set.ts'
import { WakeUp } from '../ffi/wake-up.ts'
import { Address } from '../wire/address.ts'
import { Coalescing } from './coalescing.ts'
import { BATCH, COUNT, LoopControl } from './loop-control.ts'
import { SharedCounters } from './shared-counters.ts'
import { clockOffset } from './thread-clock.ts'
import type { SharedControl, SharedSocket } from './thread-sockets.ts'

/** Asked of the global object it would be a getter of Node's each time. */
const { performance } = globalThis

/** A loop sees that it is to stop, and its clock moves on, at least this often. Milliseconds. */
const LONGEST_WAIT = 50

/** How to make a loop; clones as a message. */
export interface DatagramLoopOptions {
  /** Known by their place in this list from here on. */
  readonly sockets: readonly (SharedSocket & {
    /** What is sent by it in runs of one size may be cut up by the kernel (UDP GSO). */
    readonly segments: boolean
  })[]
  readonly control: SharedControl
  /** The longest sleep that gathers datagrams when they come in short batches; 0 for none. */
  readonly coalesceMicroseconds: number
  /** The processor to stay on. */
  readonly cpu: number | undefined
  /** `clockOffset()` of the thread whose clock the loop's times are on. */
  readonly clockOffset: number
}

/** Who decides. What it throws costs the datagram at hand. */
export interface DatagramLoopReceiver {
  /** bytes[start, end) came to a socket; HEAD_ROOM bytes in front may be written. `now` is read once a turn. */
  onDatagram(
    socket: number,
    now: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    source: Address,
  ): void
  /** Somebody woke the loop. */
  onWake(now: number): void
  /** Comes at least every 50 ms and at most once a batch. */
  onTick(now: number): void
}

/** The loop; `run` returns when it is told to stop. */
export class DatagramLoop {
  readonly #receiver: DatagramLoopReceiver
  readonly #control: LoopControl
  readonly #words: Int32Array
  readonly #sockets: readonly LoopSocket[]
  readonly #poll: PollSet
  readonly #bell: WakeUp
  readonly #coalescing: Coalescing
  readonly #libc: Libc
  readonly #source = new Address()
  readonly #clock: number
  /** Where the datagram at hand lies. */
  #from: LoopSocket
  #slot = 0
  #isResuming = false

  constructor(options: DatagramLoopOptions, receiver: DatagramLoopReceiver) {
    const calls = libc()
    if (calls === undefined) throw new Error('there are no system calls for UDP in batches here')
    this.#libc = calls
    this.#receiver = receiver
    this.#control = new LoopControl(options.control.words)
    this.#words = this.#control.words
    this.#sockets = options.sockets.map((socket) => new LoopSocket(calls, socket))
    this.#from = this.#sockets[0]!
    this.#bell = new WakeUp(calls, options.control.wakeFd)
    this.#poll = new PollSet(calls, [...options.sockets.map(({ fd }) => fd), options.control.wakeFd])
    this.#coalescing = new Coalescing(options.coalesceMicroseconds)
    this.#clock = clockOffset() - options.clockOffset
    if (options.cpu !== undefined) pinThread(calls, options.cpu)
  }

  /** Milliseconds, on the clock of the thread that made the options. */
  now(): number {
    return performance.now() + this.#clock
  }

  /** Which batch is at hand, and whether a loop that died may have dealt with some of it already. */
  get batch(): number {
    return this.#control.batch
  }
  get isResuming(): boolean {
    return this.#isResuming
  }

  /** Sends the datagram at hand on by a socket: bytes[start, end) of it, once `onDatagram` is through with the batch. */
  forward(socket: number, start: number, end: number, to: Address): void {
    const out = this.#sockets[socket]!
    if (!out.reaches(to)) {
      out.counters.sendErrors++
      return
    }
    if (out.outgoing.count === out.outgoing.size) out.flush()
    out.outgoing.add(this.#from.incoming, this.#slot, start, end, to)
  }

  /** Runs until it is told to stop. A batch that a dead predecessor left is dealt with first. */
  run(): void {
    const left = this.#control.leftover()
    const socket = left && this.#sockets[left.socket]
    this.#isResuming = true
    if (left && socket) this.#handle(left.socket, socket, left.count, left.skip, this.now())
    this.#isResuming = false
    let since = this.now()
    while (!this.#control.isStopped) since = this.#turn(since)
  }

  /**
   * Takes one batch from each socket that has some, then waits. A function of its own: V8 sees that it is to end a
   * thread where a function begins, and a bare loop around native calls has no such place.
   */
  #turn(since: number): number {
    const taken = this.#takeAll(since)
    this.#control.tick()
    this.#receiver.onTick(since)
    const before = this.now()
    this.#control.addBusy(before - since)
    const isFull = this.#isFull()
    if (!isFull) this.#coalesce(before, taken)
    // With more at hand it is only asked what else there is: no socket and no bell waits for another's flood.
    this.#see(this.#poll.wait(isFull ? 0 : LONGEST_WAIT))
    return this.now()
  }

  #takeAll(now: number): number {
    let taken = 0
    for (let i = 0; i < this.#sockets.length; i++) if (this.#sockets[i]!.isReady) taken += this.#take(i, now)
    return taken
  }

  #coalesce(now: number, taken: number): void {
    const microseconds = this.#coalescing.sleep(now, taken)
    if (microseconds > 0) this.#libc.usleep(microseconds)
  }

  #isFull(): boolean {
    for (let i = 0; i < this.#sockets.length; i++) if (this.#sockets[i]!.isReady) return true
    return false
  }

  #see(isAny: boolean): void {
    if (!isAny) return
    const sockets = this.#sockets
    for (let i = 0; i < sockets.length; i++) if (this.#poll.isReadable(i)) sockets[i]!.isReady = true
    if (!this.#poll.isReadable(sockets.length)) return
    this.#bell.heard()
    this.#receiver.onWake(this.now())
  }

  /** A batch that is not full has emptied the socket: asking again would be answered with nothing. */
  #take(i: number, now: number): number {
    const socket = this.#sockets[i]!
    this.#control.begin(i)
    const count = socket.incoming.receive(socket.fd)
    // Not by a call: a thread may end where a function begins, and the kernel has given these datagrams away.
    this.#words[COUNT] = count
    this.#control.countBatch()
    socket.isReady = count === BATCH
    if (count <= 0) return 0
    this.#handle(i, socket, count, -1, now)
    return count
  }

  #handle(i: number, socket: LoopSocket, count: number, skip: number, now: number): void {
    this.#from = socket
    for (let slot = 0; slot < count; slot++) {
      if (slot === skip) continue
      this.#control.reach(slot)
      this.#slot = slot
      this.#hand(i, socket, slot, now)
    }
    const sockets = this.#sockets
    for (let out = 0; out < sockets.length; out++) if (sockets[out]!.outgoing.count > 0) sockets[out]!.flush()
    this.#control.finish()
  }

  #hand(i: number, { incoming, counters }: LoopSocket, slot: number, now: number): void {
    const source = this.#source
    if (incoming.isTruncated(slot)) counters.truncated++
    else if (!incoming.source(slot, source)) counters.receiveErrors++
    else {
      counters.received++
      const end = HEAD_ROOM + incoming.length(slot)
      try {
        this.#receiver.onDatagram(i, now, incoming.slots[slot]!, HEAD_ROOM, end, source)
      } catch {
        counters.receiveErrors++
      }
    }
  }
}

/** Room for what each datagram of a batch becomes: mostly one, two where two transceivers get it. */
const OUTGOING = 2 * BATCH

class LoopSocket {
  readonly fd: number
  readonly incoming: ReceiveVector
  readonly outgoing: ForwardVector
  readonly counters: SharedCounters
  /** There is, or may be, something to receive. */
  isReady = true
  readonly #isIPv4: boolean

  constructor(
    calls: Libc,
    { fd, isIPv4, batch, counters, segments }: DatagramLoopOptions['sockets'][number],
  ) {
    this.fd = fd
    this.#isIPv4 = isIPv4
    this.incoming = new ReceiveVector(calls, BATCH, batch)
    this.outgoing = new ForwardVector(calls, fd, OUTGOING, { isIPv4, segments })
    this.counters = new SharedCounters(counters)
  }

  reaches(to: Address): boolean {
    return to.port !== 0 && (!this.#isIPv4 || to.isIPv4)
  }

  flush(): void {
    const { count } = this.outgoing
    const refused = this.outgoing.flush()
    this.counters.sent += count - refused
    this.counters.sendErrors += refused
  }
}
