/**
 * What makes a request one of the cluster's own: HMAC-SHA256 (RFC 2104) over all of it under a secret that only the
 * cluster's transceivers hold. Answers are signed too, so that whatever else has come to listen at an owner's address is
 * not believed. Pure: time and nonces are inputs.
 *
 * Keys are a list: each verifies, the first signs. To rotate, add the new key last everywhere, then put it first
 * everywhere, then drop the old one.
 */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Principal } from '../../../core/index.ts'
import { ANSWER_HEADERS, type Headers, REQUEST_HEADERS } from './headers.ts'

/** How far the clocks of two transceivers may be apart, and how long a request may be on its way, in milliseconds. */
export const CLOCK_WINDOW_MS = 30_000

/** A nonce is 16 random bytes in base64url. */
export const NONCE_BYTES = 16

const SCHEME = 'Earshot-Control'
const AUTHORIZATION = new RegExp(
  `^${SCHEME} time=(\\d{1,15}), nonce=([\\w-]{22}), caller=([\\w-]{1,4096}), body=([0-9a-f]{64}), mac=([0-9a-f]{64})$`,
)
const MAC = /^[0-9a-f]{64}$/

/** The part of a request that its `authorization` is about, as both sides see it. */
export interface SeenRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Of `REQUEST_HEADERS`; others do not count. */
  readonly headers: Headers
}

/** A request to sign. */
export interface UnsignedRequest extends SeenRequest {
  readonly caller: Principal
  /** See `digest`. */
  readonly body: string
  /** Milliseconds since 1970. */
  readonly time: number
  readonly nonce: string
}

/** An answer to sign or to verify. */
export interface SeenAnswer {
  readonly status: number
  /** Of `ANSWER_HEADERS`; others do not count. */
  readonly headers: Headers
  /** See `digest`. */
  readonly body: string
}

/** What a good signature says; the body is still to be compared, and the nonce to be looked up. */
export interface Verified {
  readonly caller: Principal
  readonly body: string
  readonly nonce: string
  /** Signs the answer, with the key that the asker is known to hold. */
  sign(answer: SeenAnswer): string
}

interface Key {
  readonly request: Buffer
  readonly answer: Buffer
}

/** SHA-256 of a body, in hex; of no bytes where there is none. */
export function digest(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex')
}

/** The cluster's keys. */
export class ControlKeys {
  readonly #keys: readonly Key[]

  /** At least one secret, of 32 characters or more. */
  constructor(secrets: readonly string[]) {
    // A key of its own for each use: what was signed as one thing never passes for another.
    this.#keys = secrets.map((secret) => ({
      request: hmac(secret, 'earshot control request v1'),
      answer: hmac(secret, 'earshot control answer v1'),
    }))
  }

  /** The `authorization` header of a request. */
  sign(request: UnsignedRequest): string {
    const { time, nonce, body } = request
    const caller = encodeCaller(request.caller)
    const mac = hmac(this.#keys[0]!.request, requestText(request, String(time), nonce, caller, body))
    return `${SCHEME} time=${time}, nonce=${nonce}, caller=${caller}, body=${body}, mac=${mac.toString('hex')}`
  }

  /** What a request's `authorization` proves at the time `now`; undefined unless a key of ours made it, just now. */
  verify(authorization: string | undefined, seen: SeenRequest, now: number): Verified | undefined {
    const match = AUTHORIZATION.exec(authorization ?? '')
    if (!match) return undefined
    const [, time, nonce, encoded, body, mac] = match
    if (Math.abs(now - Number(time)) > CLOCK_WINDOW_MS) return undefined
    const text = requestText(seen, time!, nonce!, encoded!, body!)
    const key = this.#keys.find((one) => isMac(mac!, hmac(one.request, text)))
    const caller = key && decodeCaller(encoded!)
    if (!key || !caller) return undefined
    return {
      caller,
      body: body!,
      nonce: nonce!,
      sign: (answer) => hmac(key.answer, answerText(nonce!, answer)).toString('hex'),
    }
  }

  /** Whether an answer is one to the request with this nonce. */
  verifyAnswer(mac: unknown, nonce: string, answer: SeenAnswer): boolean {
    if (typeof mac !== 'string' || !MAC.test(mac)) return false
    const text = answerText(nonce, answer)
    return this.#keys.some((key) => isMac(mac, hmac(key.answer, text)))
  }
}

/** A line each, and none can hold a line break: HTTP lets none through. */
function requestText(seen: SeenRequest, time: string, nonce: string, caller: string, body: string): string {
  const { method, path, headers } = seen
  return [method, path, time, nonce, caller, body, ...headerLines(headers, REQUEST_HEADERS)].join('\n')
}

function answerText(nonce: string, { status, headers, body }: SeenAnswer): string {
  return [nonce, status, body, ...headerLines(headers, ANSWER_HEADERS)].join('\n')
}

function headerLines(headers: Headers, names: readonly string[]): string[] {
  return names.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${headers[name]}`]))
}

function encodeCaller({ name, clientSecret }: Principal): string {
  return Buffer.from(JSON.stringify([name, clientSecret])).toString('base64url')
}

function decodeCaller(text: string): Principal | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (!Array.isArray(parts)) return undefined
    const [name, clientSecret] = parts
    if (typeof name !== 'string') return undefined
    return typeof clientSecret === 'string' ? { name, clientSecret } : { name }
  } catch {
    return undefined
  }
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function isMac(given: string, made: Buffer): boolean {
  return timingSafeEqual(Buffer.from(given, 'hex'), made)
}
