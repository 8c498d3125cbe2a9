/** A socket's counters in shared memory: one thread counts, others read. */

import type { UdpCounters } from '../contracts/udp-port.ts'

/** `UdpCounters` over memory of `SharedCounters.BYTES`. */
export class SharedCounters implements UdpCounters {
  static readonly BYTES = 40
  readonly #counts: Float64Array

  constructor(memory: SharedArrayBuffer) {
    this.#counts = new Float64Array(memory)
  }

  get received(): number {
    return this.#counts[0]!
  }
  set received(count: number) {
    this.#counts[0] = count
  }
  get sent(): number {
    return this.#counts[1]!
  }
  set sent(count: number) {
    this.#counts[1] = count
  }
  get truncated(): number {
    return this.#counts[2]!
  }
  set truncated(count: number) {
    this.#counts[2] = count
  }
  get receiveErrors(): number {
    return this.#counts[3]!
  }
  set receiveErrors(count: number) {
    this.#counts[3] = count
  }
  get sendErrors(): number {
    return this.#counts[4]!
  }
  set sendErrors(count: number) {
    this.#counts[4] = count
  }
}
