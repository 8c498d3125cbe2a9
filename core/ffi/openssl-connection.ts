/**
 * One DTLS connection: an SSL between two memory BIOs, no socket.
 *
 * Promise: no pointer leaves this file, no JavaScript of a caller runs while OpenSSL is on the stack, and a
 * closed connection answers every call harmlessly. The thread's error queue, which node:crypto uses too, is
 * empty before and after each call.
 */

import { packRecords } from './dtls-records.ts'
import { addressOf, koffi, nativeBuffer } from './native.ts'
import { must, openssl, takeErrors } from './openssl.ts'
import { contextPointer, type DtlsContext } from './openssl-context.ts'

const SET_MTU = 17
const GET_TIMEOUT = 73
const HANDLE_TIMEOUT = 74
const GET_EXTENDED_MASTER_SECRET = 122
const BIO_SET_EOF_RETURN = 130
const ERROR_WANT_READ = 2
const ERROR_ZERO_RETURN = 6
const DANE_END_ENTITY = 3
const DANE_FULL_CERTIFICATE = 0
const DANE_DIGESTS = { 'sha-256': 1, 'sha-512': 2 }
const EXPORTER = 'EXTRACTOR-dtls_srtp'
const DTLS_1_2 = 0xfefd
/** TLS_ECDHE_ECDSA_ and TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 (RFC 5289 §3.2). */
const AES_128_GCM_SHA256 = [0xc02b, 0xc02f]
const MASTER_SECRET_LENGTH = 48
const RANDOM_LENGTH = 32
const FIRST_TIMEOUT_US = 100_000
const LAST_TIMEOUT_US = 1_000_000

/** The largest datagram that a connection sends of itself. */
export const DTLS_MTU = 1200

/** What the record keys of a DTLS 1.2 connection follow from (RFC 5246 §6.3); the owner wipes them. */
export interface DtlsSecrets {
  /** 48 bytes. */
  readonly master: Buffer
  /** 32 bytes each, as sent in the hellos. */
  readonly clientRandom: Buffer
  readonly serverRandom: Buffer
}

/** DTLS roles (RFC 5763: `active` is the client). */
export type DtlsRole = 'server' | 'client'

const scratch = nativeBuffer(65536)
const timeval = nativeBuffer(16)
let timerCallback = 0

/** 100 ms doubling to 1 s (OpenSSL's own: 1 s doubling to 60 s). One callback a thread, kept for good. */
function retransmissionTimer(): number {
  if (timerCallback !== 0) return timerCallback
  const { register, pointer, proto } = koffi()
  const next = (_ssl: unknown, us: number) =>
    us === 0 ? FIRST_TIMEOUT_US : Math.min(us * 2, LAST_TIMEOUT_US)
  timerCallback = Number(register(next, pointer(proto('unsigned int (void *ssl, unsigned int us)'))))
  return timerCallback
}

/** An SSL with its BIOs. */
export class DtlsConnection {
  /** Connections that are not closed yet. */
  static live = 0

  /** Why the last call failed, in OpenSSL's words; empty if it did not say. */
  reason = ''
  #ssl = 0
  #incoming = 0
  #outgoing = 0

  /** Throws EdgeError `openssl_unavailable` when out of memory. */
  constructor(context: DtlsContext, role: DtlsRole) {
    const ssl = openssl()
    ssl.ERR_clear_error()
    this.#ssl = must(ssl.SSL_new(contextPointer(context)), 'a DTLS connection')
    DtlsConnection.live++
    try {
      must(ssl.SSL_dane_enable(this.#ssl, 0), 'checks of a certificate by its fingerprint')
      ssl.SSL_ctrl(this.#ssl, SET_MTU, DTLS_MTU, null)
      ssl.DTLS_set_timer_cb(this.#ssl, retransmissionTimer())
      this.#incoming = must(ssl.BIO_new(ssl.BIO_s_mem()), 'memory for incoming records')
      this.#outgoing = ssl.BIO_new(ssl.BIO_s_mem())
      if (this.#outgoing === 0) ssl.BIO_free(this.#incoming)
      must(this.#outgoing, 'memory for outgoing records')
      // An empty BIO means "try again", not "end of file".
      ssl.BIO_ctrl(this.#incoming, BIO_SET_EOF_RETURN, -1, 0)
      ssl.BIO_ctrl(this.#outgoing, BIO_SET_EOF_RETURN, -1, 0)
      ssl.SSL_set_bio(this.#ssl, this.#incoming, this.#outgoing)
    } catch (error) {
      this.close()
      throw error
    }
    if (role === 'server') ssl.SSL_set_accept_state(this.#ssl)
    else ssl.SSL_set_connect_state(this.#ssl)
  }

  /**
   * Accepts a certificate whose digest this is; of several any will do, but SHA-512 ones shut out SHA-256
   * ones (RFC 7671 §9). Without a single one OpenSSL would fall back to chains of authorities.
   */
  pin(algorithm: 'sha-256' | 'sha-512', digest: Uint8Array): void {
    const { SSL_dane_tlsa_add: add } = openssl()
    const kind = DANE_DIGESTS[algorithm]
    must(
      add(this.#ssl, DANE_END_ENTITY, DANE_FULL_CERTIFICATE, kind, digest, digest.length),
      `the ${algorithm} fingerprint`,
    )
  }

  /** Queues one datagram from the peer, bytes[start, end); `handshake` or `read` must drain it. */
  input(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#ssl === 0 || start < 0 || end <= start || end > bytes.length) return false
    return openssl().BIO_write(this.#incoming, addressOf(bytes) + start, end - start) === end - start
  }

  /** Goes on with the handshake; a client's first call starts it. */
  handshake(): 'connected' | 'waiting' | 'failed' {
    if (this.#ssl === 0) return 'failed'
    const ssl = openssl()
    ssl.ERR_clear_error()
    const result = ssl.SSL_do_handshake(this.#ssl)
    return result === 1 ? 'connected' : this.#outcome(result) === ERROR_WANT_READ ? 'waiting' : 'failed'
  }

  /** The next message (the caller's to keep), or why there is none. Call until it is not a message. */
  read(): Buffer | 'waiting' | 'closed' | 'failed' {
    if (this.#ssl === 0) return 'failed'
    const ssl = openssl()
    ssl.ERR_clear_error()
    const length = ssl.SSL_read(this.#ssl, addressOf(scratch), scratch.length)
    if (length > 0) return Buffer.from(scratch.subarray(0, length))
    const outcome = this.#outcome(length)
    if (outcome === ERROR_WANT_READ) return 'waiting'
    return outcome === ERROR_ZERO_RETURN ? 'closed' : 'failed'
  }

  /** Encrypts a message as one record; false if it cannot be sent. */
  write(message: Uint8Array): boolean {
    if (this.#ssl === 0 || message.length === 0) return false
    const ssl = openssl()
    ssl.ERR_clear_error()
    const written = ssl.SSL_write(this.#ssl, addressOf(message), message.length)
    if (written <= 0) this.#outcome(written)
    return written === message.length
  }

  /** Takes what is to be sent: datagrams of whole records, packed up to DTLS_MTU, the caller's to keep. */
  takeOutput(): Buffer[] {
    const datagrams: Buffer[] = []
    if (this.#ssl === 0) return datagrams
    const { BIO_read } = openssl()
    for (;;) {
      const length = BIO_read(this.#outgoing, addressOf(scratch), scratch.length)
      if (length <= 0) return datagrams
      packRecords(Buffer.from(scratch.subarray(0, length)), DTLS_MTU, datagrams)
    }
  }

  /** Milliseconds until `retransmit` is due, by OpenSSL's own clock; Infinity when no timer runs. */
  retransmitIn(): number {
    if (this.#ssl === 0 || openssl().SSL_ctrl(this.#ssl, GET_TIMEOUT, 0, timeval) <= 0) return Infinity
    // tv_usec has 32 bits on macOS.
    return timeval.readUInt32LE(0) * 1000 + timeval.readInt32LE(8) / 1000
  }

  /** Repeats the last flight if it is due; false after twelve times in vain. */
  retransmit(): boolean {
    if (this.#ssl === 0) return false
    const ssl = openssl()
    ssl.ERR_clear_error()
    const result = ssl.SSL_ctrl(this.#ssl, HANDLE_TIMEOUT, 0, null)
    this.reason = takeErrors()
    return result >= 0
  }

  /** Queues a close_notify. */
  shutdown(): void {
    if (this.#ssl === 0) return
    const ssl = openssl()
    ssl.ERR_clear_error()
    ssl.SSL_shutdown(this.#ssl)
    ssl.ERR_clear_error()
  }

  /** Whether the handshake was bound to its transcript (RFC 7627). */
  get extendedMasterSecret(): boolean {
    return this.#ssl !== 0 && openssl().SSL_ctrl(this.#ssl, GET_EXTENDED_MASTER_SECRET, 0, null) === 1
  }

  /** Whether the peer showed a certificate that a pin accepts. */
  get peerVerified(): boolean {
    if (this.#ssl === 0) return false
    const ssl = openssl()
    const certificate = ssl.SSL_get1_peer_certificate(this.#ssl)
    if (certificate === 0) return false
    ssl.X509_free(certificate)
    return ssl.SSL_get_verify_result(this.#ssl) === 0
  }

  /** The SRTP protection profile agreed upon (RFC 5764 §4.1.2), 0 for none. */
  get srtpProfile(): number {
    if (this.#ssl === 0) return 0
    // struct { const char *name; unsigned long id; }
    const profile = openssl().SSL_get_selected_srtp_profile(this.#ssl)
    return profile === 0 ? 0 : Number(koffi().decode(BigInt(profile), 8, 'unsigned long'))
  }

  /** `length` bytes of SRTP keying material (RFC 5764 §4.2), undefined before the handshake is done. */
  exportSrtpKeys(length: number): Buffer | undefined {
    const out = nativeBuffer(length)
    const { SSL_export_keying_material: derive } = openssl()
    if (this.#ssl === 0) return undefined
    return derive(this.#ssl, out, length, EXPORTER, EXPORTER.length, 0, 0, 0) === 1 ? out : undefined
  }

  /** The secrets of a finished handshake; undefined for any but DTLS 1.2 with an AES_128_GCM_SHA256 suite. */
  takeSecrets(): DtlsSecrets | undefined {
    if (this.#ssl === 0) return undefined
    const ssl = openssl()
    const suite = ssl.SSL_get_current_cipher(this.#ssl)
    const session = ssl.SSL_get_session(this.#ssl)
    if (suite === 0 || session === 0 || ssl.SSL_version(this.#ssl) !== DTLS_1_2) return undefined
    if (!AES_128_GCM_SHA256.includes(ssl.SSL_CIPHER_get_protocol_id(suite))) return undefined
    const master = nativeBuffer(MASTER_SECRET_LENGTH)
    const clientRandom = nativeBuffer(RANDOM_LENGTH)
    const serverRandom = nativeBuffer(RANDOM_LENGTH)
    const whole =
      ssl.SSL_SESSION_get_master_key(session, master, master.length) === master.length &&
      ssl.SSL_get_client_random(this.#ssl, clientRandom, RANDOM_LENGTH) === RANDOM_LENGTH &&
      ssl.SSL_get_server_random(this.#ssl, serverRandom, RANDOM_LENGTH) === RANDOM_LENGTH
    return whole ? { master, clientRandom, serverRandom } : undefined
  }

  /** Frees it. Idempotent. */
  close(): void {
    if (this.#ssl === 0) return
    openssl().SSL_free(this.#ssl)
    this.#ssl = this.#incoming = this.#outgoing = 0
    DtlsConnection.live--
  }

  #outcome(result: number): number {
    const outcome = openssl().SSL_get_error(this.#ssl, result)
    this.reason = takeErrors()
    return outcome
  }
}
