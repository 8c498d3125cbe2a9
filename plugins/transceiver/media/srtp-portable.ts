/**
 * SRTP's cryptography on node:crypto: several times slower than OpenSSL through koffi and allocating, but it
 * runs wherever Node does. It is what the fast engine is measured and checked against.
 */

import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'
import type { Aead, CounterCipher, Mac, SrtpEngine } from './srtp-transform.ts'

const TAG = 16
const MAC = 10

class PortableGcm implements Aead {
  readonly iv = Buffer.alloc(12)
  readonly #key: KeyObject

  constructor(key: Uint8Array) {
    // A key object costs a third of what key bytes cost per packet.
    this.#key = createSecretKey(key)
  }

  seal(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): boolean {
    const cipher = createCipheriv('aes-128-gcm', this.#key, this.iv)
    cipher.setAAD(bytes.subarray(start, body))
    if (trailer !== -1) cipher.setAAD(bytes.subarray(trailer, trailer + 4))
    bytes.set(cipher.update(bytes.subarray(body, end)), body)
    cipher.final()
    bytes.set(cipher.getAuthTag(), end)
    return true
  }

  open(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): boolean {
    const decipher = createDecipheriv('aes-128-gcm', this.#key, this.iv)
    decipher.setAAD(bytes.subarray(start, body))
    if (trailer !== -1) decipher.setAAD(bytes.subarray(trailer, trailer + 4))
    decipher.setAuthTag(bytes.subarray(end, end + TAG))
    const plain = decipher.update(bytes.subarray(body, end))
    try {
      decipher.final()
    } catch {
      return false
    }
    bytes.set(plain, body)
    return true
  }

  close(): void {}
}

class PortableCtr implements CounterCipher {
  readonly iv = Buffer.alloc(16)
  readonly #key: KeyObject

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key)
  }

  apply(bytes: Uint8Array, start: number, end: number): boolean {
    bytes.set(createCipheriv('aes-128-ctr', this.#key, this.iv).update(bytes.subarray(start, end)), start)
    return true
  }

  close(): void {}
}

class PortableMac implements Mac {
  readonly #key: KeyObject
  readonly #suffix = Buffer.alloc(4)

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key)
  }

  sign(bytes: Uint8Array, start: number, end: number, suffix: number, at: number): boolean {
    bytes.set(this.#tag(bytes, start, end, suffix), at)
    return true
  }

  verify(bytes: Uint8Array, start: number, end: number, suffix: number, at: number): boolean {
    return timingSafeEqual(this.#tag(bytes, start, end, suffix), bytes.subarray(at, at + MAC))
  }

  close(): void {}

  #tag(bytes: Uint8Array, start: number, end: number, suffix: number): Buffer {
    const mac = createHmac('sha1', this.#key).update(bytes.subarray(start, end))
    if (suffix !== -1) {
      this.#suffix.writeUInt32BE(suffix)
      mac.update(this.#suffix)
    }
    return mac.digest().subarray(0, MAC)
  }
}

/** node:crypto as an SRTP engine. */
export const portableEngine: SrtpEngine = {
  aead: (key) => new PortableGcm(key),
  counter: (key) => new PortableCtr(key),
  mac: (key) => new PortableMac(key),
}
