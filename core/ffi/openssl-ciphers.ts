/**
 * AES-128-GCM, AES-128-CTR and HMAC-SHA1 in place on the caller's memory, with contexts keyed once.
 *
 * Promise: nothing is allocated per call, nothing is read or written outside the bounds given, which are
 * checked against the buffer's length; a closed context refuses. Offsets are into `bytes`. A key of the wrong
 * length is a RangeError.
 */

import { addressOf, nativeBuffer } from './native.ts'
import { must, openssl } from './openssl.ts'
import type { OpenSslFunctions } from './openssl-signatures.ts'

const GCM_TAG = 16
const GET_TAG = 16
const SET_TAG = 17

const length = nativeBuffer(8)
const digest = nativeBuffer(64)

const inside = (bytes: Uint8Array, start: number, middle: number, end: number, last: number): boolean =>
  start >= 0 && start <= middle && middle <= end && end <= last && last <= bytes.length

/** A keyed cipher context, not to be used itself. */
class Cipher {
  /** The initialisation vector of the next call. */
  readonly iv: Buffer
  protected readonly ssl: OpenSslFunctions
  protected readonly ivAddress: number
  protected readonly lengthAddress: number
  protected context: number

  constructor(kind: number, key: Uint8Array, ivLength: number, encrypt: 0 | 1) {
    if (key.length !== 16) throw new RangeError(`an AES-128 key has 16 bytes, not ${key.length}`)
    const ssl = openssl()
    this.ssl = ssl
    this.iv = nativeBuffer(ivLength)
    this.ivAddress = addressOf(this.iv)
    this.lengthAddress = addressOf(length)
    ssl.ERR_clear_error()
    this.context = must(ssl.EVP_CIPHER_CTX_new(), 'a cipher context')
    const secret = nativeBuffer(16)
    secret.set(key)
    const keyed = ssl.EVP_CipherInit_ex(this.context, kind, 0, addressOf(secret), 0, encrypt)
    secret.fill(0)
    if (keyed !== 1) this.close()
    must(keyed, 'a cipher key')
  }

  /** Frees it. Idempotent. */
  close(): void {
    if (this.context !== 0) this.ssl.EVP_CIPHER_CTX_free(this.context)
    this.context = 0
  }
}

/** AES-128-GCM with a 12-byte `iv` and a 16-byte tag. One direction each. */
export class Aes128Gcm extends Cipher {
  readonly #encrypt: 0 | 1

  constructor(key: Uint8Array, direction: 'seal' | 'open') {
    const encrypt = direction === 'seal' ? 1 : 0
    super(openssl().EVP_aes_128_gcm(), key, 12, encrypt)
    this.#encrypt = encrypt
  }

  /**
   * Encrypts bytes[body, end) and writes the tag to bytes[end, end + 16). Authenticated besides are
   * bytes[start, body) and, unless `trailer` is -1, the four bytes at `trailer`. False: refused.
   */
  seal(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): boolean {
    if (this.#encrypt === 0 || !this.#begin(bytes, start, body, end, trailer)) return false
    const { ssl, context, lengthAddress } = this
    const tag = addressOf(bytes) + end
    return (
      ssl.EVP_CipherFinal_ex(context, tag, lengthAddress) === 1 &&
      ssl.EVP_CIPHER_CTX_ctrl(context, GET_TAG, GCM_TAG, tag) === 1
    )
  }

  /** The reverse of `seal`. False: not authentic, and the bytes are as they were. */
  open(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): boolean {
    if (this.#encrypt === 1 || !this.#begin(bytes, start, body, end, trailer)) return false
    const { ssl, context, lengthAddress } = this
    const base = addressOf(bytes)
    if (
      ssl.EVP_CIPHER_CTX_ctrl(context, SET_TAG, GCM_TAG, base + end) === 1 &&
      ssl.EVP_CipherFinal_ex(context, base + end, lengthAddress) === 1
    ) {
      return true
    }
    ssl.ERR_clear_error()
    // Counter mode undoes itself: a second pass with the same vector brings the ciphertext back, for a
    // packet may be offered to another session after this one.
    ssl.EVP_CipherInit_ex(context, 0, 0, 0, this.ivAddress, 0)
    ssl.EVP_CipherUpdate(context, base + body, lengthAddress, base + body, end - body)
    return false
  }

  #begin(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): boolean {
    const { ssl, context, lengthAddress } = this
    if (context === 0 || !inside(bytes, start, body, end, end + GCM_TAG)) return false
    if (trailer !== -1 && (trailer < 0 || trailer + 4 > bytes.length)) return false
    const base = addressOf(bytes)
    return (
      ssl.EVP_CipherInit_ex(context, 0, 0, 0, this.ivAddress, this.#encrypt) === 1 &&
      ssl.EVP_CipherUpdate(context, 0, lengthAddress, base + start, body - start) === 1 &&
      (trailer === -1 || ssl.EVP_CipherUpdate(context, 0, lengthAddress, base + trailer, 4) === 1) &&
      (body === end ||
        ssl.EVP_CipherUpdate(context, base + body, lengthAddress, base + body, end - body) === 1)
    )
  }
}

/** AES-128-CTR with a 16-byte `iv`; encryption and decryption are one. */
export class Aes128Ctr extends Cipher {
  constructor(key: Uint8Array) {
    super(openssl().EVP_aes_128_ctr(), key, 16, 1)
  }

  /** Works bytes[start, end) in place. False: refused. */
  apply(bytes: Uint8Array, start: number, end: number): boolean {
    const { ssl, context } = this
    if (context === 0 || !inside(bytes, start, start, end, end)) return false
    if (start === end) return true
    const at = addressOf(bytes) + start
    return (
      ssl.EVP_CipherInit_ex(context, 0, 0, 0, this.ivAddress, 1) === 1 &&
      ssl.EVP_CipherUpdate(context, at, this.lengthAddress, at, end - start) === 1
    )
  }
}

/** HMAC-SHA1 with a 20-byte key, its tag cut to 10 bytes (RFC 3711 §4.2.1). */
export class HmacSha1 {
  readonly #ssl = openssl()
  readonly #suffix = nativeBuffer(4)
  readonly #suffixAddress = addressOf(this.#suffix)
  readonly #digestAddress = addressOf(digest)
  readonly #lengthAddress = addressOf(length)
  #context: number

  constructor(key: Uint8Array) {
    const ssl = this.#ssl
    ssl.ERR_clear_error()
    this.#context = must(ssl.HMAC_CTX_new(), 'a MAC context')
    const secret = nativeBuffer(key.length)
    secret.set(key)
    const keyed = ssl.HMAC_Init_ex(this.#context, addressOf(secret), key.length, ssl.EVP_sha1(), 0)
    secret.fill(0)
    if (keyed !== 1) this.close()
    must(keyed, 'a MAC key')
  }

  /** Writes the tag over bytes[start, end) and, unless it is -1, the 32-bit `suffix` to bytes[at, at + 10). */
  sign(bytes: Uint8Array, start: number, end: number, suffix: number, at: number): boolean {
    if (at < 0 || at + 10 > bytes.length || !this.#compute(bytes, start, end, suffix)) return false
    for (let i = 0; i < 10; i++) bytes[at + i] = digest[i]!
    return true
  }

  /** Whether the tag at bytes[at, at + 10) is right, in constant time. */
  verify(bytes: Uint8Array, start: number, end: number, suffix: number, at: number): boolean {
    if (at < 0 || at + 10 > bytes.length || !this.#compute(bytes, start, end, suffix)) return false
    return this.#ssl.CRYPTO_memcmp(this.#digestAddress, addressOf(bytes) + at, 10) === 0
  }

  /** Frees it. Idempotent. */
  close(): void {
    if (this.#context !== 0) this.#ssl.HMAC_CTX_free(this.#context)
    this.#context = 0
  }

  #compute(bytes: Uint8Array, start: number, end: number, suffix: number): boolean {
    const ssl = this.#ssl
    const context = this.#context
    if (context === 0 || !inside(bytes, start, start, end, end)) return false
    if (ssl.HMAC_Init_ex(context, 0, 0, 0, 0) !== 1) return false
    if (ssl.HMAC_Update(context, addressOf(bytes) + start, end - start) !== 1) return false
    if (suffix !== -1) {
      this.#suffix.writeUInt32BE(suffix)
      if (ssl.HMAC_Update(context, this.#suffixAddress, 4) !== 1) return false
    }
    return ssl.HMAC_Final(context, this.#digestAddress, this.#lengthAddress) === 1
  }
}
