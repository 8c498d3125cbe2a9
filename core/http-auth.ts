/** Who makes a request: API keys, compared in constant time. */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { EdgeError } from './errors.ts'
import type { Principal } from './plugin.ts'

const ANONYMOUS: Principal = Object.freeze({ name: 'anonymous' })

/**
 * Makes the function that tells who a request comes from, by `Authorization: Bearer <key>`; it throws EdgeError
 * `unauthorized`. Without any key everybody is `anonymous`. `keys` is principal name → secret.
 */
export function authenticator(
  keys: Readonly<Record<string, string>>,
): (request: FastifyRequest) => Principal {
  const known = Object.entries(keys).map(([name, secret]) => ({
    principal: Object.freeze({ name }),
    digest: digestOf(secret),
  }))
  return (request) => {
    if (known.length === 0) return ANONYMOUS
    const header = request.headers.authorization
    const given = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
    if (given === undefined) {
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
}

/** Digests have one length, which timingSafeEqual wants, and hide the key's own. */
const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
