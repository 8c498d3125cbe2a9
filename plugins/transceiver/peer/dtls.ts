/**
 * One peer's DTLS 1.2: handshake, messages, hang-up. Datagrams and time are inputs; it has no timer.
 *
 * OpenSSL does the handshake. Once the peer has shown that it knows of its end, and so will not repeat its last
 * flight, the record keys pass to `DtlsRecords`, and OpenSSL's 85 KB are freed (docs/adr/0004).
 *
 * Promise: nothing is delivered, and no keys are given out, before the peer has proved to own the certificate
 * of the SDP's fingerprint in a handshake bound to its transcript. `receive`, `write`, `tick` and `close`
 * never throw; whatever a handler throws ends the session as failed.
 */

import { DtlsConnection } from '../../../core/index.ts'
import { saltLength, splitKeyingMaterial } from '../media/srtp-keys.ts'
import { acceptable, MAX_DTLS_DATAGRAM } from './dtls-filter.ts'
import { usableFingerprints } from './dtls-fingerprints.ts'
import { DtlsIntake, type Taken } from './dtls-intake.ts'
import type { DtlsEndpointOptions, DtlsState } from './dtls-options.ts'
import { RECORD_OVERHEAD } from './dtls-record.ts'
import { type RecordLayer, takeOver } from './dtls-records.ts'
import { SentRecords } from './dtls-sent.ts'

export type { DtlsContext } from '../../../core/index.ts'
export type { SrtpKeys } from '../media/srtp-keys.ts'
export type { Fingerprint } from './dtls-fingerprints.ts'
export type { DtlsEndpointOptions, DtlsState } from './dtls-options.ts'

/** The longest message that `write` takes, so that its datagram is one that an endpoint would accept. */
export const MAX_DTLS_MESSAGE = MAX_DTLS_DATAGRAM - RECORD_OVERHEAD

/** One end of a DTLS association. Close it when done with, unless it has ended by itself. */
export class DtlsEndpoint {
  /** When `tick` has work, in the caller's milliseconds; Infinity when no timer runs. */
  deadline = Infinity
  /** Datagrams that were not let through. */
  dropped = 0
  readonly #options: DtlsEndpointOptions
  readonly #intake = new DtlsIntake()
  /** OpenSSL's part, until it has handed over. */
  #connection: DtlsConnection | undefined
  #sent: SentRecords | undefined
  #layer: RecordLayer
  #state: DtlsState = 'new'

  /** Throws EdgeError `unsupported_offer` without a usable fingerprint. */
  constructor(options: DtlsEndpointOptions) {
    this.#options = options
    const pins = usableFingerprints(options.fingerprints)
    const connection = new DtlsConnection(options.context, options.role)
    this.#connection = this.#layer = connection
    if (options.handsOver ?? true) this.#sent = new SentRecords()
    try {
      for (const { algorithm, digest } of pins) connection.pin(algorithm, digest)
    } catch (error) {
      connection.close()
      throw error
    }
  }

  get state(): DtlsState {
    return this.#state
  }

  /**
   * Begins. A client sends its ClientHello; a server waits for one without a deadline, which is the caller's
   * to set. Its first datagram starts a server too; a client drops what comes before.
   */
  start(now: number): void {
    if (this.#state !== 'new') return
    this.#state = 'connecting'
    if (this.#options.role === 'client') this.#guarded(() => this.#begin(now))
  }

  /**
   * Takes the datagram bytes[start, end). True: it completed the handshake or carried an authentic record
   * newer than any before it, so that it shows where the peer is now.
   */
  receive(bytes: Buffer, start: number, end: number, now: number): boolean {
    const { role } = this.#options
    if (role === 'server') this.start(now)
    const open = this.#state === 'connecting' || this.#state === 'connected'
    if (!open || !acceptable(bytes, start, end, role)) {
      this.dropped++
      return false
    }
    let fresh = false
    this.#guarded(() => {
      const connecting = this.#state === 'connecting' ? this.#connection : undefined
      const taken = connecting
        ? this.#intake.shakeHands(connecting, bytes, start, end)
        : this.#intake.take(this.#layer, bytes, start, end)
      fresh = this.#follow(taken, connecting !== undefined, now)
    })
    return fresh
  }

  /** The peer has shown by other means that it knows of the handshake's end: by an authentic SRTP packet. */
  settle(): void {
    if (this.#sent && this.#state === 'connected') this.#guarded(() => this.#handOver())
  }

  /** Sends a message of 1 to MAX_DTLS_MESSAGE bytes; false if it could not be. */
  write(message: Uint8Array): boolean {
    if (this.#state !== 'connected' || message.length > MAX_DTLS_MESSAGE) return false
    let written = false
    this.#guarded(() => {
      written = this.#layer.write(message)
      this.#flush()
    })
    return written
  }

  /** Repeats what was lost, once `deadline` has come. */
  tick(now: number): void {
    const connection = this.#connection
    if (now < this.deadline || !connection) return
    this.#guarded(() => {
      if (!connection.retransmit()) return this.#end('handshake timeout', true)
      this.#flush()
      this.#arm(now)
    })
  }

  /** Sends close_notify if connected, and frees everything. Idempotent; calls no handler but `send`. */
  close(): void {
    if (this.#state === 'closed' || this.#state === 'failed') return
    const connected = this.#state === 'connected'
    this.#state = 'closed'
    if (connected) this.#farewell()
    this.#free()
  }

  #begin(now: number): void {
    this.#connection?.handshake()
    this.#flush()
    if (this.#state === 'connecting') this.#arm(now)
  }

  /** Tells the handlers what came. True: it completed the handshake, or was newer than all before. */
  #follow(taken: Taken, wasConnecting: boolean, now: number): boolean {
    // The next flight, a repeated last one, or a refusal to renegotiate.
    this.#flush()
    if (wasConnecting && !this.#shakeHands(taken, now)) return false
    // The first message after our Finished is the sign that it has come.
    if (!wasConnecting && taken.messages.length > 0 && !taken.end) this.#handOver()
    for (const message of taken.messages) {
      if (this.#state === 'connected') this.#options.onMessage(message)
    }
    if (taken.end && this.#state === 'connected') this.#hearEnd(taken)
    return wasConnecting || taken.isNewest
  }

  #shakeHands({ isConnected, end, reason }: Taken, now: number): boolean {
    if (this.#state !== 'connecting') return false
    if (isConnected) return this.#complete()
    if (end) this.#end(reason || 'handshake failed', true)
    else this.#arm(now)
    return false
  }

  #hearEnd({ end, reason }: Taken): void {
    if (end === 'closed') {
      // Our close_notify in return.
      this.#layer.shutdown()
      this.#flush()
      this.#end('close_notify', false)
    } else this.#end(reason || 'record error', true)
  }

  #complete(): boolean {
    this.deadline = Infinity
    const connection = this.#connection
    if (!connection) return false
    const profile = connection.srtpProfile
    if (profile !== 1 && profile !== 7) return this.#refuse('no SRTP profile in common')
    if (!connection.extendedMasterSecret) return this.#refuse('the peer has no extended master secret')
    if (!connection.peerVerified) return this.#refuse('the peer is not verified')
    const material = connection.exportSrtpKeys(2 * (16 + saltLength(profile)))
    if (!material) return this.#refuse('no SRTP keys')
    this.#state = 'connected'
    // A client has had the last word of the handshake; a server waits for a sign that it was heard.
    if (this.#options.role === 'client') this.#handOver()
    this.#options.onConnected(splitKeyingMaterial(profile, material, this.#options.role))
    return true
  }

  /** From OpenSSL's records to ours; nothing when it was done, or cannot be. The output has been flushed. */
  #handOver(): void {
    const connection = this.#connection
    const position = this.#sent?.next
    this.#sent = undefined
    const records = position && connection && takeOver(connection, position, this.#options.role)
    if (!records) return
    this.#layer = records
    this.#connection = undefined
    connection.close()
  }

  #refuse(reason: string): false {
    this.#farewell()
    this.#end(reason, true)
    return false
  }

  #flush(): void {
    const datagrams = this.#layer.takeOutput()
    for (const datagram of datagrams) this.#sent?.note(datagram)
    for (const datagram of datagrams) this.#options.send(datagram)
  }

  #arm(now: number): void {
    this.deadline = now + (this.#connection?.retransmitIn() ?? Infinity)
  }

  /** Tells the peer that it is over, whatever `send` does. */
  #farewell(): void {
    try {
      this.#layer.shutdown()
      this.#flush()
    } catch {
      // It is over either way.
    }
  }

  #end(reason: string, failed: boolean): void {
    if (this.#state === 'closed' || this.#state === 'failed') return
    this.#state = failed ? 'failed' : 'closed'
    this.#free()
    this.#options.onClosed(reason, failed)
  }

  #free(): void {
    this.deadline = Infinity
    this.#layer.close()
  }

  #guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      try {
        this.#end(`a handler threw: ${error instanceof Error ? error.message : String(error)}`, true)
      } catch {
        // Thrown by onClosed itself: there is nobody left to tell.
      }
    }
  }
}
