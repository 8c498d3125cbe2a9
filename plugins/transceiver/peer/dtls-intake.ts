/**
 * Reads a datagram's records, message by message, so that it is known which of them were authentic: the replay window
 * here is exact, and goes on when the record layer changes.
 *
 * Promise: no handler runs in here, so the caller's buffer stays as it is until all of it is read. A record is
 * delivered once, whichever layers have seen it. No message is read before the handshake is done.
 */

import type { DtlsConnection } from '../../../core/index.ts'
import { ReplayWindow } from '../media/replay-window.ts'
import { MAX_DTLS_DATAGRAM } from './dtls-filter.ts'
import { epochOf, isMessage, recordEnd, sequenceOf, writeSequence } from './dtls-record.ts'
import type { RecordLayer } from './dtls-records.ts'

/** What a datagram brought. */
export interface Taken {
  /** Authentic and new, in their order. */
  readonly messages: Buffer[]
  /** One of them is newer than any before this datagram. */
  isNewest: boolean
  /** The handshake is done. */
  isConnected: boolean
  /** It is over: by the peer's close_notify, or by a fault. */
  end: 'closed' | 'failed' | undefined
  /** What the fault was, if that is known. */
  reason: string
}

/** Where a handshake's records lie while they are numbered anew. */
const numbered = Buffer.allocUnsafeSlow(MAX_DTLS_DATAGRAM)

/** One connection's way in. */
export class DtlsIntake {
  readonly #seen = new ReplayWindow()
  /** How many records in clear have come. */
  #inClear = 0

  /** Goes on with the handshake by an acceptable datagram; messages count once it is done. */
  shakeHands(connection: DtlsConnection, bytes: Buffer, start: number, end: number): Taken {
    const taken = nothing(false)
    for (let at = start; at < end && !taken.end; ) {
      if (taken.isConnected) return this.#take(connection, bytes, at, end, taken)
      let next = at
      while (next < end && !isMessage(bytes, next)) next = recordEnd(bytes, next)
      // OpenSSL would keep early messages for later, without telling their numbers: they count as lost.
      if (next === at) at = recordEnd(bytes, at)
      else {
        this.#number(bytes, at, next)
        if (!connection.input(numbered, 0, next - at)) return taken
        const outcome = connection.handshake()
        taken.isConnected = outcome === 'connected'
        if (outcome === 'failed') taken.end = 'failed'
        taken.reason = connection.reason
        at = next
      }
    }
    return taken
  }

  /** Reads an acceptable datagram of a connection whose handshake is done. */
  take(layer: RecordLayer, bytes: Buffer, start: number, end: number): Taken {
    return this.#take(layer, bytes, start, end, nothing(true))
  }

  /**
   * Copies bytes[start, end) to `numbered`, where records in clear get numbers of our own. Nobody vouches for theirs:
   * by a forged high one OpenSSL would take all that the peer sends for old. Messages that come twice have numbers
   * inside.
   */
  #number(bytes: Buffer, start: number, end: number): void {
    bytes.copy(numbered, 0, start, end)
    for (let at = 0; at < end - start; at = recordEnd(numbered, at)) {
      if (epochOf(numbered, at) === 0) writeSequence(numbered, at, this.#inClear++)
    }
  }

  #take(layer: RecordLayer, bytes: Buffer, start: number, end: number, taken: Taken): Taken {
    for (let at = start; at < end && !taken.end; at = recordEnd(bytes, at)) {
      const sequence = isMessage(bytes, at) ? sequenceOf(bytes, at) : -1
      if (sequence >= 0 && !this.#seen.isFresh(sequence)) continue
      if (!layer.input(bytes, at, recordEnd(bytes, at))) continue
      const read = layer.read()
      if (read === 'closed' || read === 'failed') {
        taken.end = read
        taken.reason = layer.reason
      } else if (read !== 'waiting' && sequence >= 0) {
        if (sequence > this.#seen.highest) taken.isNewest = true
        this.#seen.accept(sequence)
        taken.messages.push(read)
      }
    }
    return taken
  }
}

function nothing(isConnected: boolean): Taken {
  return { messages: [], isNewest: false, isConnected, end: undefined, reason: '' }
}
