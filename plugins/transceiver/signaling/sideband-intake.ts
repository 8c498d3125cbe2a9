/**
 * What a sideband says, no faster than its call may: beyond that the socket is not read, so that TCP slows its sender and
 * nothing is lost. What had been read by then waits here, which is no more than a read brings.
 */

import type { WebSocket } from 'ws'
import { Fifo } from '../media/fifo.ts'
import type { PacketBudget } from '../packet-budget.ts'

/** It is read again after so long at least, in milliseconds: a wait for each message would cost more than the message. */
const LEAST_WAIT_MS = 20

/** A message: its text, or undefined for one that was not text; and its size in bytes. */
interface Said {
  readonly text: string | undefined
  readonly bytes: number
}

/** One sideband's messages, in order. */
export class SidebandIntake {
  readonly #socket: WebSocket
  readonly #budget: Pick<PacketBudget, 'spend'>
  readonly #hear: (text: string | undefined) => void
  readonly #waiting = new Fifo<Said>()
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  /** `hear` gets each message's text, or undefined for one that was not text. `budget` may be shared. */
  constructor(
    socket: WebSocket,
    budget: Pick<PacketBudget, 'spend'>,
    hear: (text: string | undefined) => void,
  ) {
    this.#socket = socket
    this.#budget = budget
    this.#hear = hear
    socket.on('message', (data, isBinary) => {
      // One that is being closed is not heard either, however long that takes.
      if (this.#isOver || socket.readyState !== socket.OPEN) return
      const said = {
        text: isBinary ? undefined : String(data),
        bytes: Buffer.isBuffer(data) ? data.length : 0,
      }
      if (this.#timer) this.#waiting.push(said)
      else this.#take(said)
    })
  }

  /** Nothing is heard any more; the socket is read all the same, for its close. Idempotent. */
  stop(): void {
    this.#isOver = true
    this.#waiting.clear()
    this.#goOn()
  }

  #take({ text, bytes }: Said): void {
    const waitMs = this.#budget.spend(performance.now(), bytes)
    if (waitMs > 0) {
      this.#socket.pause()
      this.#timer = setTimeout(() => this.#takeWaiting(), Math.max(LEAST_WAIT_MS, waitMs))
    }
    this.#hear(text)
  }

  #takeWaiting(): void {
    this.#timer = undefined
    while (!this.#timer) {
      const said = this.#waiting.shift()
      if (!said) break
      this.#take(said)
    }
    if (!this.#timer) this.#goOn()
  }

  #goOn(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#socket.resume()
  }
}
