/** A flood of one kind from millions of addresses, at a rate or as fast as the machine sends. Linux. */

import type { Libc } from '../../core/ffi/libc.ts'
import { ReceiveVector } from '../../core/ffi/message-vector.ts'
import { openUdpSocket } from '../../core/ffi/udp-socket.ts'
import { type Address, parseAddress } from '../../core/index.ts'
import { Prng } from '../../core/testing/prng.ts'
import { BATCH, ClientVector } from '../bench/relay/client-vector.ts'
import { FloodWriter, type Kind } from './kinds.ts'

/** Datagrams of one source that leave as one message. */
const TRAIN = 4
/** The first sources are the calls'. */
const FIRST_SOURCE = 100_000
const SOURCES = 4_000_000
const MESSAGES_A_TURN = 256
/** What is due for longer than this is not sent any more. */
const LATEST_MS = 50
const BUFFER = 8 * 1024 * 1024

/** The flood; it ends when nobody calls `turn`. Close it. */
export class Flood implements Disposable {
  sent = 0
  skipped = 0
  readonly #rate: number
  readonly #writer: FloodWriter
  readonly #random: Prng
  readonly #out: ClientVector
  readonly #libc: Libc
  readonly #fd: number
  #began = -1

  /** `rate` in datagrams a second, Infinity for all that can be sent. Throws SocketRefusal. */
  constructor(libc: Libc, relay: Address, kind: Kind, ufrag: string, rate: number, seed: number) {
    this.#random = new Prng(seed)
    this.#rate = rate
    this.#writer = new FloodWriter(kind, ufrag, this.#random)
    this.#libc = libc
    this.#fd = openUdpSocket(libc, parseAddress('0.0.0.0:0')!, {
      receiveBuffer: BUFFER,
      sendBuffer: BUFFER,
    }).fd
    this.#out = new ClientVector(libc, this.#fd)
    this.#out.aim(relay)
  }

  /** Sends what is due. */
  turn(now: number): void {
    if (this.#began < 0) this.#began = now
    const elapsed = now - this.#began
    let due = Number.POSITIVE_INFINITY
    if (this.#rate !== due) {
      due = Math.floor((elapsed * this.#rate) / 1000) - this.sent - this.skipped
      const late = due - Math.ceil((this.#rate * LATEST_MS) / 1000)
      if (late > 0) {
        this.skipped += late
        due -= late
      }
    }
    const messages = Math.min(MESSAGES_A_TURN, Math.floor(due / TRAIN))
    for (let n = 0; n < messages; n++) this.#add()
    if (this.#out.count > 0) this.#out.flush()
    this.sent += messages * TRAIN
  }

  /** Datagrams that came back: a relay answers nobody. */
  answers(): number {
    return Math.max(0, new ReceiveVector(this.#libc, BATCH).receive(this.#fd))
  }

  [Symbol.dispose](): void {
    this.#libc.close(this.#fd)
  }

  #add(): void {
    const out = this.#out
    const { at } = out
    const { length } = this.#writer
    for (let i = 0; i < TRAIN; i++) this.#writer.write(out.views.bytes, at + i * length)
    out.add(FIRST_SOURCE + this.#random.below(SOURCES), TRAIN * length, length)
    if (out.count === BATCH) out.flush()
  }
}
