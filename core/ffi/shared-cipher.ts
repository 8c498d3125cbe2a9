/**
 * A cipher context that all keys of a thread take turns with: OpenSSL needs 0.7 to 1.2 KB for a context and 60 ns
 * to give it another key, and a process has several keys for each call.
 *
 * Promise: a context is never used with another's key, and keeps none that has been dropped.
 */

import { addressOf, nativeBuffer } from './native.ts'
import { must, openssl } from './openssl.ts'

/** Bytes of an AES-128 key. */
export const AES_128_KEY = 16

const secret = nativeBuffer(AES_128_KEY)

/** One context, of one cipher and direction. Made once a thread and kept for good. */
export class SharedCipher {
  readonly #ssl = openssl()
  readonly #context: number
  readonly #encrypt: 0 | 1
  #holder: Uint8Array | undefined

  /** Throws EdgeError `openssl_unavailable` when out of memory. */
  constructor(kind: number, encrypt: 0 | 1) {
    const ssl = this.#ssl
    ssl.ERR_clear_error()
    this.#context = must(ssl.EVP_CIPHER_CTX_new(), 'a cipher context')
    this.#encrypt = encrypt
    const made = ssl.EVP_CipherInit_ex(this.#context, kind, 0, 0, 0, encrypt)
    if (made !== 1) ssl.EVP_CIPHER_CTX_free(this.#context)
    must(made, 'a cipher')
  }

  /** The context, ready for one call with this key (known by identity) and vector; 0 when OpenSSL refuses. */
  take(key: Uint8Array, ivAddress: number): number {
    if (this.#holder === key) return this.#initialise(0, ivAddress) ? this.#context : 0
    this.#holder = undefined
    if (!this.#setKey(key, ivAddress)) return 0
    this.#holder = key
    return this.#context
  }

  /** Forgets this key, which the caller wipes. */
  drop(key: Uint8Array): void {
    if (this.#holder !== key) return
    this.#holder = undefined
    secret.fill(0)
    this.#initialise(addressOf(secret), 0)
  }

  #setKey(key: Uint8Array, ivAddress: number): boolean {
    secret.set(key)
    const taken = this.#initialise(addressOf(secret), ivAddress)
    secret.fill(0)
    return taken
  }

  #initialise(keyAddress: number, ivAddress: number): boolean {
    return this.#ssl.EVP_CipherInit_ex(this.#context, 0, 0, keyAddress, ivAddress, this.#encrypt) === 1
  }
}
