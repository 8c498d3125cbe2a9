/** The demo page: a person opens it, clicks Call, and talks to whatever bridge this edge has. */

import type { FastifyInstance } from 'fastify'
import { definePlugin } from '../../core/index.ts'
import { isCurrent, PAGE, type PageFile, readPage } from './files.ts'
import { checkOptions, Options } from './options.ts'

/** Nothing from elsewhere, nothing inline, and nobody may frame a page that holds a microphone. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; media-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'permissions-policy': 'microphone=(self), camera=(), geolocation=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
} as const

function serve(http: FastifyInstance, url: string, file: PageFile): void {
  http.get(url, async (request, reply) => {
    reply.headers(HEADERS).header('etag', file.etag)
    if (isCurrent(request.headers['if-none-match'], file.etag)) return reply.code(304).send()
    return reply.header('content-type', file.type).send(file.body)
  })
}

export default definePlugin({
  name: 'demo',
  api: 1,
  options: Options,
  check: checkOptions,
  async setup({ path }, _services, context) {
    for (const file of await readPage()) {
      serve(context.http, file.name === PAGE ? path : `${path}demo-assets/${file.name}`, file)
    }
    context.log.info({ path }, 'demo page served')
    return {}
  },
})
