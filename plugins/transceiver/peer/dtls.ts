/**
 * One peer's DTLS 1.2: handshake, messages, hang-up. Datagrams and time are inputs; it has no timer.
 *
 * Promise: nothing is delivered, and no keys are given out, before the peer has proved to own the certificate
 * of the SDP's fingerprint in a handshake bound to its transcript. `receive`, `write`, `tick` and `close`
 * never throw; whatever a handler throws ends the session as failed.
 */

import { DtlsConnection, type DtlsContext } from '../../../core/index.ts'
import { type SrtpKeys, saltLength, splitKeyingMaterial } from '../media/srtp-keys.ts'
import { acceptable, encryptedRecords, MAX_DTLS_DATAGRAM, newestSequence } from './dtls-filter.ts'
import { type Fingerprint, usableFingerprints } from './dtls-fingerprints.ts'

export type { DtlsContext } from '../../../core/index.ts'
export type { SrtpKeys } from '../media/srtp-keys.ts'
export type { Fingerprint } from './dtls-fingerprints.ts'

/** `new` before `start`, `closed` by either side's wish, `failed` for any other end. */
export type DtlsState = 'new' | 'connecting' | 'connected' | 'closed' | 'failed'

/** What an endpoint needs and whom it tells. */
export interface DtlsEndpointOptions {
  readonly role: 'server' | 'client'
  /** The peer's; only SHA-256 and SHA-512 ones count. */
  readonly fingerprints: readonly Fingerprint[]
  readonly context: DtlsContext
  /** One datagram for the peer, the callee's to keep. */
  send(datagram: Uint8Array): void
  /** Once, before any message. */
  onConnected(keys: SrtpKeys): void
  /** A message of the peer, the callee's to keep. */
  onMessage(message: Buffer): void
  /** Once at most, when the session ends other than by our `close()`. */
  onClosed(reason: string, failed: boolean): void
}

/** A record's header, explicit nonce and tag. */
const RECORD_OVERHEAD = 13 + 8 + 16

/** The longest message that `write` takes, so that its datagram is one that an endpoint would accept. */
export const MAX_DTLS_MESSAGE = MAX_DTLS_DATAGRAM - RECORD_OVERHEAD

/** One end of a DTLS association. Close it when done with, unless it has ended by itself. */
export class DtlsEndpoint {
  /** When `tick` has work, in the caller's milliseconds; Infinity when no timer runs. */
  deadline = Infinity
  /** Datagrams that were not let through. */
  dropped = 0
  readonly #options: DtlsEndpointOptions
  readonly #connection: DtlsConnection
  #state: DtlsState = 'new'
  #newest = -1

  /** Throws EdgeError `unsupported_offer` without a usable fingerprint. */
  constructor(options: DtlsEndpointOptions) {
    this.#options = options
    const pins = usableFingerprints(options.fingerprints)
    this.#connection = new DtlsConnection(options.context, options.role)
    try {
      for (const { algorithm, digest } of pins) this.#connection.pin(algorithm, digest)
    } catch (error) {
      this.#connection.close()
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
    if (this.#options.role === 'client') this.#guarded(() => this.#handshake(now))
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
      if (!this.#connection.input(bytes, start, end)) return
      if (this.#state === 'connecting') fresh = this.#handshake(now)
      if (this.#state !== 'connected') return
      // Taken before the messages are delivered, whose handlers may reuse the caller's buffer.
      const records = encryptedRecords(bytes, start, end)
      const newest = newestSequence(bytes, start, end)
      // Behind a forged record an old one could pass for new: all of the datagram's must be authentic.
      if (this.#read() === records && newest > this.#newest) {
        this.#newest = newest
        fresh = true
      }
    })
    return fresh
  }

  /** Sends a message of 1 to MAX_DTLS_MESSAGE bytes; false if it could not be. */
  write(message: Uint8Array): boolean {
    if (this.#state !== 'connected' || message.length > MAX_DTLS_MESSAGE) return false
    let written = false
    this.#guarded(() => {
      written = this.#connection.write(message)
      this.#flush()
    })
    return written
  }

  /** Repeats what was lost, once `deadline` has come. */
  tick(now: number): void {
    if (now < this.deadline) return
    this.#guarded(() => {
      if (!this.#connection.retransmit()) return this.#end('handshake timeout', true)
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

  /** Returns true when the handshake completed. */
  #handshake(now: number): boolean {
    const outcome = this.#connection.handshake()
    // Read at once: what `send` runs may use the connection.
    const reason = this.#connection.reason
    this.#flush()
    if (this.#state !== 'connecting') return false
    if (outcome === 'failed') this.#end(reason || 'handshake failed', true)
    else if (outcome === 'connected') return this.#complete()
    else this.#arm(now)
    return false
  }

  #complete(): boolean {
    this.deadline = Infinity
    const connection = this.#connection
    const profile = connection.srtpProfile
    if (profile !== 1 && profile !== 7) return this.#refuse('no SRTP profile in common')
    if (!connection.extendedMasterSecret) return this.#refuse('the peer has no extended master secret')
    if (!connection.peerVerified) return this.#refuse('the peer is not verified')
    const material = connection.exportSrtpKeys(2 * (16 + saltLength(profile)))
    if (!material) return this.#refuse('no SRTP keys')
    this.#state = 'connected'
    this.#options.onConnected(splitKeyingMaterial(profile, material, this.#options.role))
    return true
  }

  #refuse(reason: string): false {
    this.#farewell()
    this.#end(reason, true)
    return false
  }

  /** Delivers what has come; returns how many messages that was. */
  #read(): number {
    let messages = 0
    while (this.#state === 'connected') {
      const message = this.#connection.read()
      if (typeof message !== 'string') {
        messages++
        this.#options.onMessage(message)
        continue
      }
      const reason = this.#connection.reason
      // Our close_notify in return, a repeated last flight, or a refusal to renegotiate.
      if (message === 'closed') this.#connection.shutdown()
      this.#flush()
      if (message === 'closed') this.#end('close_notify', false)
      else if (message === 'failed') this.#end(reason || 'record error', true)
      break
    }
    return messages
  }

  #flush(): void {
    for (const datagram of this.#connection.takeOutput()) this.#options.send(datagram)
  }

  #arm(now: number): void {
    this.deadline = now + this.#connection.retransmitIn()
  }

  /** Tells the peer that it is over, whatever `send` does. */
  #farewell(): void {
    try {
      this.#connection.shutdown()
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
    this.#connection.close()
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
