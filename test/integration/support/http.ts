/** Requests as a web page's script would make them: over TCP, one connection each, with an Origin. */

import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request } from 'node:http'
import type { ErrorCode } from '../../../core/index.ts'

/** The page that asks; the default config lets it. */
export const ORIGIN = 'http://localhost:3000'

/** An answer, read to its end. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What to ask. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Asks the listener at `origin`. */
export function ask(origin: string, { method, path, headers = {}, body }: Asked): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request(`${origin}${path}`, {
      method,
      agent: false,
      headers: { origin: ORIGIN, ...headers },
    })
    asked.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      )
      response.on('error', reject)
    })
    // A listener that refuses a large body answers and closes before it has read all of it.
    asked.on('error', reject)
    asked.end(body)
  })
}

/** Fails unless it is the error answer that every client understands, and that a page may read. */
export function assertRefused(answer: HttpAnswer, status: number, code: ErrorCode): void {
  assert.equal(answer.status, status, answer.body)
  assert.match(answer.headers['content-type'] ?? '', /^application\/json\b/)
  assert.equal(answer.headers['access-control-allow-origin'], ORIGIN)
  const { error, ...rest } = JSON.parse(answer.body)
  assert.deepEqual(rest, {})
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type'])
  assert.equal(error.code, code)
  assert.match(error.type, /^(invalid_request_error|rate_limit_error|server_error)$/)
  assert.match(error.message, /\S+ \S+/)
  assert.ok(error.param === null || typeof error.param === 'string')
  if (status === 503 || status === 429) assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
}
