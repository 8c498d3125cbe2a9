/** Which cryptography SRTP runs on: OpenSSL through koffi, and node:crypto where that cannot be had. */

import { Aes128Ctr, Aes128Gcm, HmacSha1, opensslProblem } from '../../../core/index.ts'
import { portableEngine } from './srtp-portable.ts'
import type { SrtpEngine } from './srtp-transform.ts'

/** OpenSSL as an SRTP engine. Its parts throw EdgeError `openssl_unavailable` where it cannot be used. */
export const opensslEngine: SrtpEngine = {
  aead: (key, direction) => new Aes128Gcm(key, direction),
  counter: (key) => new Aes128Ctr(key),
  mac: (key) => new HmacSha1(key),
}

let chosen: SrtpEngine | undefined

/** The fastest engine that works here. */
export function defaultEngine(): SrtpEngine {
  chosen ??= opensslProblem() ? portableEngine : opensslEngine
  return chosen
}
