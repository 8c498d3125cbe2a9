/** Who makes a request: API keys, compared in constant time. */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ANONYMOUS } from './anonymous.ts'
import { EdgeError } from './errors.ts'
import { clientIp } from './http-proxies.ts'
import type { Context, Principal } from './plugin.ts'

/** Knows who makes requests. */
export type Authenticator = Pick<Context, 'authenticate' | 'principalOf'>

/** The WebSocket subprotocol that carries a key where a page can set no header: this, then the key. */
export const KEY_SUBPROTOCOL = 'openai-insecure-api-key.'

/**
 * Makes what tells who a request comes from, by the key it carries (see `givenKey`) or by the name of one; both throw
 * EdgeError `unauthorized`. Without any key everybody is `anonymous`. `keys` is principal name → secret.
 */
export function authenticator(keys: Readonly<Record<string, string>>): Authenticator {
  const known = Object.entries(keys).map(([name, secret]) => ({
    principal: Object.freeze({ name }),
    digest: digestOf(secret),
  }))
  const isOpen = known.length === 0
  const anonymous = (request: FastifyRequest): Principal => ({ name: ANONYMOUS, ip: clientIp(request) })
  const authenticate = (request: FastifyRequest): Principal => {
    if (isOpen) return anonymous(request)
    const given = givenKey(request)
    if (given === undefined) {
      const header = request.headers.authorization
      const what = header === undefined ? 'no API key was sent' : 'the Authorization header holds no API key'
      throw new EdgeError('unauthorized', `${what}: send "Authorization: Bearer <key>"`)
    }
    const digest = digestOf(given)
    let found: Principal | undefined
    // Every key is compared, whether or not one has matched: time tells nothing.
    for (const key of known) if (timingSafeEqual(key.digest, digest)) found = key.principal
    if (!found) throw new EdgeError('unauthorized', 'this API key is not known here')
    return found
  }
  const principalOf = (request: FastifyRequest, name: string): Principal => {
    if (isOpen && name === ANONYMOUS) return anonymous(request)
    const found = known.find(({ principal }) => principal.name === name)
    if (!found)
      throw new EdgeError('unauthorized', 'the API key that this was made with is not known any more')
    return found.principal
  }
  return { authenticate, principalOf }
}

/**
 * The key a request carries, unchecked: from `Authorization: Bearer <key>`; without that header, from `api-key: <key>`,
 * as Azure's clients send it; for a WebSocket, from the subprotocol `openai-insecure-api-key.<key>`, since a page can
 * set no header there.
 */
export function givenKey(request: FastifyRequest): string | undefined {
  const { authorization, 'api-key': azure, upgrade } = request.headers
  if (authorization !== undefined) return /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
  if (typeof azure === 'string' && azure !== '') return azure
  if (upgrade?.toLowerCase() !== 'websocket') return undefined
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((one) => one.trim())
  const found = offered?.find((one) => one.startsWith(KEY_SUBPROTOCOL))
  return found?.slice(KEY_SUBPROTOCOL.length) || undefined
}

/** Digests have one length, which timingSafeEqual wants, and hide the key's own. */
const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
