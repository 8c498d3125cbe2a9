/** Which web pages may talk to a listener: CORS, and a guard for listeners that ask for no key. */

import type { FastifyRequest } from 'fastify'
import { EdgeError } from './errors.ts'

/** The CORS headers of every answer besides the origin itself. */
export const CORS = Object.freeze({
  methods: ['GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS'],
  allowedHeaders: [
    ...['authorization', 'api-key', 'content-type', 'if-match', 'etag', 'traceparent', 'tracestate'],
    ...['x-openai-agents-sdk', 'openai-beta', 'openai-organization', 'openai-project'],
    // What the openai package adds to every request, in a browser too.
    ...['arch', 'lang', 'os', 'package-version', 'retry-count', 'runtime', 'runtime-version', 'timeout'].map(
      (name) => `x-stainless-${name}`,
    ),
  ],
  exposedHeaders: ['Location', 'ETag', 'Link', 'Accept-Post', 'Access-Control-Allow-Methods', 'Retry-After'],
  maxAge: 600,
})

/** Tells whether a web origin is on the list: exact, `*` for any, or `scheme://host:*` for any port. */
export function originMatcher(origins: readonly string[]): (origin: string) => boolean {
  const any = origins.includes('*')
  const exact = new Set(origins.map((origin) => origin.toLowerCase()))
  return (origin) => {
    const text = origin.toLowerCase()
    return any || exact.has(text) || exact.has(`${text.replace(/(?<!:|\/):\d+$/, '')}:*`)
  }
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

/**
 * Refuses what a stranger's web page can make a browser send to a listener on this machine that asks for no key:
 * requests under a foreign host name (DNS rebinding), and requests from a page that is neither ours nor on the list.
 * Throws EdgeError `forbidden`; `remedy` is what to do about a foreign name.
 */
export function guardLoopback(
  request: FastifyRequest,
  allowed: (origin: string) => boolean,
  remedy: string,
): void {
  const { host, origin } = request.headers
  if (host === undefined || !LOOPBACK.test(host)) {
    throw new EdgeError(
      'forbidden',
      `this listener asks for no key, so it answers to localhost and 127.0.0.1 only; ${remedy}`,
    )
  }
  const own = origin !== undefined && origin.replace(/^https?:\/\//i, '') === host
  if (origin !== undefined && !own && !allowed(origin)) {
    throw new EdgeError(
      'forbidden',
      `pages from ${origin} may not use this listener; http.origins lists those that may`,
    )
  }
}
