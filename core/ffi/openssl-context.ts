/**
 * What all DTLS connections of a thread share: certificate, protocol version, cipher suites, SRTP profiles.
 *
 * Promise: DTLS 1.2 only, a certificate demanded from the peer in both roles, no renegotiation, no session
 * resumption, no compression (RFC 8827 §6.5, RFC 9325).
 */

import { addressOf, nativeBuffer } from './native.ts'
import { must, openssl } from './openssl.ts'

const DTLS_1_2 = 0xfefd
const MODE = 33
const MODE_RELEASE_BUFFERS = 0x10
const SESSION_CACHE_MODE = 44
const MAX_CERTIFICATE_LIST = 51
const GROUPS_LIST = 92
const MIN_PROTOCOL = 123
const MAX_PROTOCOL = 124
const VERIFY_PEER_OR_FAIL = 1 | 2

const NO_EXTENDED_MASTER_SECRET = 1
const NO_QUERY_MTU = 2 ** 12
const NO_TICKET = 2 ** 14
const NO_COMPRESSION = 2 ** 17
const CIPHER_SERVER_PREFERENCE = 2 ** 22
const NO_RENEGOTIATION = 2 ** 30

const CIPHERS = 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256'
const GROUPS = 'X25519:P-256'
const SRTP_PROFILES = 'SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80'

/** A certificate with its key. */
export interface KeyPair {
  /** X.509, DER. */
  readonly certificate: Uint8Array
  /** PKCS #8, DER. */
  readonly privateKey: Uint8Array
}

/** How a context is made. Everything but `identity` is for tests that play a peer unlike us. */
export interface DtlsContextOptions {
  /** Without it the peer gets no certificate. */
  readonly identity?: KeyPair
  /** Colon-separated names, as OpenSSL spells them. */
  readonly srtpProfiles?: string
  readonly groups?: string
  readonly ciphers?: string
  /** Default true: the extended master secret is offered (RFC 7627). */
  readonly extendedMasterSecret?: boolean
}

let pointerOf: (context: DtlsContext) => number

/** For core/ffi alone: the SSL_CTX behind a context, 0 once it is closed. */
export function contextPointer(context: DtlsContext): number {
  return pointerOf(context)
}

/** An SSL_CTX. One per thread is enough. */
export class DtlsContext {
  static {
    pointerOf = (context) => context.#pointer
  }

  #pointer: number

  /** Throws EdgeError `openssl_unavailable` where OpenSSL has no DTLS (FIPS mode) or refuses a part. */
  constructor(options: DtlsContextOptions) {
    const ssl = openssl()
    ssl.ERR_clear_error()
    this.#pointer = must(ssl.SSL_CTX_new(ssl.DTLS_method()), 'a DTLS context')
    try {
      this.#configure(options)
      if (options.identity) this.#identify(options.identity)
    } catch (error) {
      this.close()
      throw error
    } finally {
      ssl.ERR_clear_error()
    }
  }

  /** Releases it; open connections keep what they need. Idempotent. */
  close(): void {
    if (this.#pointer !== 0) openssl().SSL_CTX_free(this.#pointer)
    this.#pointer = 0
  }

  #configure(options: DtlsContextOptions): void {
    const ssl = openssl()
    const context = this.#pointer
    const control = (command: number, value: number) => ssl.SSL_CTX_ctrl(context, command, value, null)
    must(control(MIN_PROTOCOL, DTLS_1_2), 'DTLS 1.2 as the lowest version')
    must(control(MAX_PROTOCOL, DTLS_1_2), 'DTLS 1.2 as the highest version')
    // No cookie exchange: ICE has proved the path, and a round trip is saved.
    let flags = NO_QUERY_MTU + NO_TICKET + NO_COMPRESSION + CIPHER_SERVER_PREFERENCE + NO_RENEGOTIATION
    if (options.extendedMasterSecret === false) flags += NO_EXTENDED_MASTER_SECRET
    ssl.SSL_CTX_set_options(context, flags)
    control(MODE, MODE_RELEASE_BUFFERS)
    control(SESSION_CACHE_MODE, 0)
    control(MAX_CERTIFICATE_LIST, 16384)
    const ciphers = options.ciphers ?? CIPHERS
    must(ssl.SSL_CTX_set_cipher_list(context, ciphers), `the ciphers ${ciphers}`)
    const groups = options.groups ?? GROUPS
    must(ssl.SSL_CTX_ctrl(context, GROUPS_LIST, 0, Buffer.from(`${groups}\0`)), `the groups ${groups}`)
    const profiles = options.srtpProfiles ?? SRTP_PROFILES
    // This one returns 0 for success.
    const refused = ssl.SSL_CTX_set_tlsext_use_srtp(context, profiles)
    must(refused === 0 ? 1 : 0, `the SRTP profiles ${profiles}`)
    ssl.SSL_CTX_set_verify(context, VERIFY_PEER_OR_FAIL, 0)
    must(ssl.SSL_CTX_dane_enable(context), 'checks of a certificate by its fingerprint')
  }

  #identify({ certificate, privateKey }: KeyPair): void {
    const ssl = openssl()
    const context = this.#pointer
    must(ssl.SSL_CTX_use_certificate_ASN1(context, certificate.length, certificate), 'the certificate')
    // d2i reads through a pointer to the pointer, which it moves on.
    const der = nativeBuffer(privateKey.length)
    der.set(privateKey)
    const cursor = nativeBuffer(8)
    cursor.writeBigUInt64LE(BigInt(addressOf(der)))
    const key = ssl.d2i_AutoPrivateKey(0, cursor, der.length)
    der.fill(0)
    must(key, 'the private key')
    const used = ssl.SSL_CTX_use_PrivateKey(context, key)
    ssl.EVP_PKEY_free(key)
    must(used, 'the private key')
    must(ssl.SSL_CTX_check_private_key(context), 'a private key that is not the certificate’s')
  }
}
