/**
 * AES-128-GCM under one routing key: OpenSSL's in place, where it can be had, for a relay opens one text for each new
 * address that knocks; else node:crypto's, at ten times the cost.
 */

import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto'
import { Aes128Gcm, opensslProblem } from '../../../core/index.ts'

/** Seals and opens with one key. */
export interface Sealer {
  /** Encrypts `body` in place and writes its tag. A nonce has 12 bytes, a tag 16. */
  seal(nonce: Buffer, additional: Buffer, body: Buffer, tag: Buffer): void
  /** Decrypts `body` in place if its tag is right; else false, and the body is in no particular state. */
  open(nonce: Buffer, additional: Buffer, body: Buffer, tag: Buffer): boolean
  /** Forgets the key; it is not used any more. */
  close(): void
}

/** A sealer for 16 bytes of key. */
export function createSealer(key: Buffer): Sealer {
  return opensslProblem() ? portableSealer(key) : opensslSealer(key)
}

/** Additional data, body and tag, one behind the other. */
const work = Buffer.alloc(128)

/** By OpenSSL; throws EdgeError `openssl_unavailable` where it cannot be used. */
export function opensslSealer(key: Buffer): Sealer {
  const sealing = new Aes128Gcm(key, 'seal')
  const opening = new Aes128Gcm(key, 'open')
  return {
    seal(nonce, additional, body, tag) {
      const start = additional.copy(work)
      const end = start + body.copy(work, start)
      sealing.iv.set(nonce)
      if (!sealing.seal(work, 0, start, end, -1)) throw new Error('OpenSSL did not seal a route')
      work.copy(body, 0, start, end)
      work.copy(tag, 0, end)
    },
    open(nonce, additional, body, tag) {
      const start = additional.copy(work)
      const end = start + body.copy(work, start)
      tag.copy(work, end)
      opening.iv.set(nonce)
      const isAuthentic = opening.openOrSpoil(work, 0, start, end, -1)
      if (isAuthentic) work.copy(body, 0, start, end)
      return isAuthentic
    },
    close() {
      sealing.close()
      opening.close()
    },
  }
}

const ALGORITHM = 'aes-128-gcm'
const TAG_LENGTH = { authTagLength: 16 }

/** By node:crypto. */
export function portableSealer(key: Buffer): Sealer {
  const secret = createSecretKey(key)
  return {
    seal(nonce, additional, body, tag) {
      const cipher = createCipheriv(ALGORITHM, secret, nonce, TAG_LENGTH)
      cipher.setAAD(additional)
      cipher.update(body).copy(body)
      cipher.final()
      cipher.getAuthTag().copy(tag)
    },
    open(nonce, additional, body, tag) {
      try {
        const decipher = createDecipheriv(ALGORITHM, secret, nonce, TAG_LENGTH)
        decipher.setAAD(additional).setAuthTag(tag)
        decipher.update(body).copy(body)
        decipher.final()
        return true
      } catch {
        // `final` throws when the tag is wrong; there is no other way to ask.
        return false
      }
    },
    close() {},
  }
}
