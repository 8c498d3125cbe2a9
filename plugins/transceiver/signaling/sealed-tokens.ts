/**
 * Tokens that carry what they stand for: encrypted, so that a browser that holds one cannot read it, and so signed.
 *
 * A token is `ek_` and a JWE in compact form (RFC 7516; `dir`, A256GCM), so any process with the same secret opens it and
 * none keeps a list. It is not compressed: its length would tell of what is inside.
 */

import { createHash, hkdfSync, randomUUID } from 'node:crypto'
import { EncryptJWT, errors, jwtDecrypt } from 'jose'
import { EdgeError, type JsonObject } from '../../../core/index.ts'
import { isJsonObject } from './json.ts'

/** What every token begins with, and no API key. */
export const TOKEN_PREFIX = 'ek_'

/** What a token is for; one for the one is not taken for the other. */
export type TokenUse = 'client_secret' | 'session'

/** What a token says. */
export interface TokenContent {
  /** The principal's name. */
  readonly name: string
  readonly session: JsonObject
}

/** A token that was made. */
export interface SealedToken {
  readonly value: string
  /** Unlike any other's. */
  readonly id: string
  /** When it ends, in whole seconds since 1970. */
  readonly expiresAt: number
}

/** A token that was opened. */
export interface OpenedToken extends TokenContent {
  readonly id: string
}

interface Key {
  readonly id: string
  readonly bytes: Uint8Array
}

/** Makes and opens tokens. */
export class SealedTokens {
  readonly #keys: readonly [Key, ...Key[]]
  readonly #now: () => number

  /** The first secret seals, all of them open. `now` is the wall clock, in milliseconds since 1970. */
  constructor(secrets: readonly [string, ...string[]], now: () => number = Date.now) {
    const [first, ...others] = secrets
    this.#keys = [keyOf(first), ...others.map(keyOf)]
    this.#now = now
  }

  /** Makes a token that lives for so many seconds. */
  async seal(use: TokenUse, { name, session }: TokenContent, seconds: number): Promise<SealedToken> {
    const [key] = this.#keys
    const id = randomUUID()
    const expiresAt = Math.floor(this.#now() / 1000) + seconds
    const token = await new EncryptJWT({ session })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: key.id })
      .setSubject(name)
      .setAudience(use)
      .setJti(id)
      .setExpirationTime(expiresAt)
      .encrypt(key.bytes)
    return { value: TOKEN_PREFIX + token, id, expiresAt }
  }

  /** Opens a token. Rejects with EdgeError `unauthorized` for what is none of ours, for something else, or over. */
  async open(use: TokenUse, value: string): Promise<OpenedToken> {
    const what = use === 'session' ? 'session' : 'client secret'
    try {
      const { payload } = await jwtDecrypt(value.slice(TOKEN_PREFIX.length), ({ kid }) => this.#find(kid), {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        audience: use,
        requiredClaims: ['sub', 'jti', 'exp'],
        currentDate: new Date(this.#now()),
      })
      const { sub: name = '', jti: id = '', session } = payload
      return { name, id, session: isJsonObject(session) ? session : {} }
    } catch (cause) {
      const isOver = cause instanceof errors.JWTExpired
      const message = isOver ? `this ${what} has expired: get another` : `this ${what} is not known here`
      throw new EdgeError('unauthorized', message, { cause })
    }
  }

  #find(id: string | undefined): Uint8Array {
    const key = this.#keys.find((one) => one.id === id)
    if (!key) throw new errors.JWEDecryptionFailed()
    return key.bytes
  }
}

function keyOf(secret: string): Key {
  const bytes = new Uint8Array(hkdfSync('sha256', secret, '', 'earshot client secrets', 32))
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 16), bytes }
}
