/**
 * AES-128-GCM, AES-128-CTR and HMAC-SHA1 in place on the caller's memory.
 *
 * Promise: nothing is allocated per call, nothing is read or written outside the bounds given, which are
 * checked against the buffer's length; a closed cipher refuses. Offsets are into `bytes`. A key of the wrong
 * length is a RangeError.
 */

import { addressOf, nativeBuffer } from './native.ts'
import { must, openssl } from './openssl.ts'
import type { OpenSslFunctions } from './openssl-signatures.ts'
import { AES_128_KEY, SharedCipher } from './shared-cipher.ts'

const GCM_TAG = 16
const GET_TAG = 16
const SET_TAG = 17

const length = nativeBuffer(8)
const digest = nativeBuffer(64)

const inside = (bytes: Uint8Array, start: number, middle: number, end: number, last: number): boolean =>
  start >= 0 && start <= middle && middle <= end && end <= last && last <= bytes.length

/** The contexts and vectors that all ciphers of this thread share. */
class Shared {
  readonly seal: SharedCipher
  readonly open: SharedCipher
  readonly counter: SharedCipher
  readonly gcmVector = nativeBuffer(12)
  readonly counterVector = nativeBuffer(16)

  constructor() {
    const ssl = openssl()
    this.seal = new SharedCipher(ssl.EVP_aes_128_gcm(), 1)
    this.open = new SharedCipher(ssl.EVP_aes_128_gcm(), 0)
    this.counter = new SharedCipher(ssl.EVP_aes_128_ctr(), 1)
  }
}

let ours: Shared | undefined

/** Throws EdgeError `openssl_unavailable`. */
function shared(): Shared {
  ours ??= new Shared()
  return ours
}

/** A key and its place in a shared context, not to be used itself. */
class Cipher {
  /** The initialisation vector of the next call. All ciphers of a kind share it: write all of it each time. */
  readonly iv: Buffer
  protected readonly ssl: OpenSslFunctions
  protected readonly ivAddress: number
  protected readonly lengthAddress: number
  protected key: Buffer | undefined
  readonly #shared: SharedCipher

  constructor(sharedCipher: SharedCipher, key: Uint8Array, iv: Buffer) {
    if (key.length !== AES_128_KEY) throw new RangeError(`an AES-128 key has 16 bytes, not ${key.length}`)
    this.ssl = openssl()
    this.#shared = sharedCipher
    this.key = Buffer.from(key)
    this.iv = iv
    this.ivAddress = addressOf(iv)
    this.lengthAddress = addressOf(length)
  }

  /** The context with our key and `iv`, 0 when closed or refused. */
  protected take(): number {
    return this.key ? this.#shared.take(this.key, this.ivAddress) : 0
  }

  /** Wipes the key. Idempotent. */
  close(): void {
    if (!this.key) return
    this.#shared.drop(this.key)
    this.key.fill(0)
    this.key = undefined
  }
}

/** AES-128-GCM with a 12-byte `iv` and a 16-byte tag. One direction each. */
export class Aes128Gcm extends Cipher {
  readonly #seals: boolean

  constructor(key: Uint8Array, direction: 'seal' | 'open') {
    super(shared()[direction], key, shared().gcmVector)
    this.#seals = direction === 'seal'
  }

  /**
   * Encrypts bytes[body, end) and writes the tag to bytes[end, end + 16). Authenticated besides are
   * bytes[start, body) and, unless `trailer` is -1, the four bytes at `trailer`. False: refused.
   */
  seal(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): boolean {
    const context = this.#seals ? this.#begin(bytes, start, body, end, trailer) : 0
    if (context === 0) return false
    const tag = addressOf(bytes) + end
    const { ssl, lengthAddress } = this
    return (
      ssl.EVP_CipherFinal_ex(context, tag, lengthAddress) === 1 &&
      ssl.EVP_CIPHER_CTX_ctrl(context, GET_TAG, GCM_TAG, tag) === 1
    )
  }

  /** The reverse of `seal`. False: not authentic, and the bytes are as they were. */
  open(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): boolean {
    const context = this.#beginOpening(bytes, start, body, end, trailer)
    if (context === 0) return false
    if (this.#isAuthentic(context, bytes, end)) return true
    // Counter mode undoes itself: a second pass with the same vector brings the ciphertext back, for a
    // packet may be offered to another session after this one.
    const again = this.take()
    const at = addressOf(bytes) + body
    if (again !== 0) this.ssl.EVP_CipherUpdate(again, at, this.lengthAddress, at, end - body)
    return false
  }

  /** As `open`, and quicker where it is not authentic: bytes[body, end) then mean nothing. */
  openOrSpoil(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): boolean {
    const context = this.#beginOpening(bytes, start, body, end, trailer)
    return context !== 0 && this.#isAuthentic(context, bytes, end)
  }

  #beginOpening(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): number {
    return this.#seals ? 0 : this.#begin(bytes, start, body, end, trailer)
  }

  #isAuthentic(context: number, bytes: Uint8Array, end: number): boolean {
    const { ssl, lengthAddress } = this
    const tag = addressOf(bytes) + end
    if (
      ssl.EVP_CIPHER_CTX_ctrl(context, SET_TAG, GCM_TAG, tag) === 1 &&
      ssl.EVP_CipherFinal_ex(context, tag, lengthAddress) === 1
    ) {
      return true
    }
    ssl.ERR_clear_error()
    return false
  }

  /** The context with everything but the tag put through it, 0 when refused. */
  #begin(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): number {
    if (!inside(bytes, start, body, end, end + GCM_TAG)) return 0
    if (trailer !== -1 && (trailer < 0 || trailer + 4 > bytes.length)) return 0
    const context = this.take()
    const { ssl, lengthAddress } = this
    const base = addressOf(bytes)
    const done =
      context !== 0 &&
      ssl.EVP_CipherUpdate(context, 0, lengthAddress, base + start, body - start) === 1 &&
      (trailer === -1 || ssl.EVP_CipherUpdate(context, 0, lengthAddress, base + trailer, 4) === 1) &&
      (body === end ||
        ssl.EVP_CipherUpdate(context, base + body, lengthAddress, base + body, end - body) === 1)
    return done ? context : 0
  }
}

/** AES-128-CTR with a 16-byte `iv`; encryption and decryption are one. */
export class Aes128Ctr extends Cipher {
  constructor(key: Uint8Array) {
    super(shared().counter, key, shared().counterVector)
  }

  /** Works bytes[start, end) in place. False: refused. */
  apply(bytes: Uint8Array, start: number, end: number): boolean {
    if (!inside(bytes, start, start, end, end)) return false
    if (start === end) return true
    const context = this.take()
    const at = addressOf(bytes) + start
    return context !== 0 && this.ssl.EVP_CipherUpdate(context, at, this.lengthAddress, at, end - start) === 1
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
