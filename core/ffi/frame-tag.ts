/**
 * The 8-byte tag of a frame: HMAC-SHA-256 of what stands in front of the tag and of what is behind it, cut to 64 bits
 * (NIST SP 800-107 §5.1), in place on the caller's memory.
 *
 * Promise: nothing is allocated per call, and nothing is read or written outside the bounds given, which are checked
 * against the buffer's length.
 */

import { addressOf, nativeBuffer } from './native.ts'
import { must, openssl } from './openssl.ts'

/** Bytes of a tag. */
export const FRAME_TAG = 8

const digest = nativeBuffer(32)
const length = nativeBuffer(8)

/** One key's tags. */
export class FrameTag {
  readonly #ssl = openssl()
  readonly #context: number
  readonly #digestAddress = addressOf(digest)
  readonly #lengthAddress = addressOf(length)

  /** Throws EdgeError `openssl_unavailable`. The context is kept for good: keys change with the process. */
  constructor(key: Uint8Array) {
    const ssl = this.#ssl
    ssl.ERR_clear_error()
    this.#context = must(ssl.HMAC_CTX_new(), 'a MAC context')
    const secret = nativeBuffer(key.length)
    secret.set(key)
    const keyed = ssl.HMAC_Init_ex(this.#context, addressOf(secret), key.length, ssl.EVP_sha256(), 0)
    secret.fill(0)
    if (keyed !== 1) ssl.HMAC_CTX_free(this.#context)
    must(keyed, 'a MAC key')
  }

  /** Writes the tag of bytes[start, at) and bytes[at + FRAME_TAG, end) to bytes[at, at + FRAME_TAG). */
  sign(bytes: Uint8Array, start: number, at: number, end: number): boolean {
    if (!this.#compute(bytes, start, at, end)) return false
    for (let i = 0; i < FRAME_TAG; i++) bytes[at + i] = digest[i]!
    return true
  }

  /** Whether that is the tag at bytes[at, at + FRAME_TAG), in constant time. */
  verify(bytes: Uint8Array, start: number, at: number, end: number): boolean {
    if (!this.#compute(bytes, start, at, end)) return false
    return this.#ssl.CRYPTO_memcmp(this.#digestAddress, addressOf(bytes) + at, FRAME_TAG) === 0
  }

  #compute(bytes: Uint8Array, start: number, at: number, end: number): boolean {
    const behind = at + FRAME_TAG
    if (!(start >= 0 && start <= at && behind <= end && end <= bytes.length)) return false
    const ssl = this.#ssl
    const context = this.#context
    const base = addressOf(bytes)
    return (
      ssl.HMAC_Init_ex(context, 0, 0, 0, 0) === 1 &&
      ssl.HMAC_Update(context, base + start, at - start) === 1 &&
      (behind === end || ssl.HMAC_Update(context, base + behind, end - behind) === 1) &&
      ssl.HMAC_Final(context, this.#digestAddress, this.#lengthAddress) === 1
    )
  }
}
