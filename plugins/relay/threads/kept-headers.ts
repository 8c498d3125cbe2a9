/**
 * Headers that are written anew in place, as between relays, and kept until their batch has left: the successor of a
 * thread that died within a batch finds every datagram as it came. They lie in the head room in front of their
 * datagram, in words, behind the number of the batch: of another batch they mean nothing.
 */

import { HEAD_ROOM, SPP_MAC_LENGTH } from '../../../core/index.ts'

/** Of the longest header. */
const WORDS = Math.ceil(SPP_MAC_LENGTH / 4)
const ROOM = HEAD_ROOM / 4

/** Those of one thread's sockets. */
export class KeptHeaders {
  readonly #sockets: readonly Int32Array[]
  #words: Int32Array

  /** The memory that each socket's datagrams lie in. */
  constructor(batches: readonly SharedArrayBuffer[]) {
    this.#sockets = batches.map((batch) => new Int32Array(batch))
    this.#words = this.#sockets[0]!
  }

  /** The datagram at hand came to this socket. */
  at(socket: number): void {
    this.#words = this.#sockets[socket]!
  }

  /** Keeps the header of the datagram at hand, which begins at bytes[start]. */
  keep(batch: number, bytes: Uint8Array, start: number): void {
    const words = this.#words
    const header = (bytes.byteOffset + start) >>> 2
    const kept = header - ROOM
    for (let i = 0; i < WORDS; i++) words[kept + 1 + i] = words[header + i]!
    // Last: until then the header is as it came.
    words[kept] = batch
  }

  /** Puts back what was kept of the datagram at hand in this batch, if anything was. */
  restore(batch: number, bytes: Uint8Array, start: number): void {
    const words = this.#words
    const header = (bytes.byteOffset + start) >>> 2
    const kept = header - ROOM
    if (words[kept] !== batch) return
    for (let i = 0; i < WORDS; i++) words[header + i] = words[kept + 1 + i]!
  }
}
