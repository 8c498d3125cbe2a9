/** Bodies as routes take them, unread: of one media type or of any, as bytes or as text. Parsers for others are dropped. */

import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Makes a scope take bodies of one media type, or of any (`*`), as bytes. */
export function takeBytes(scope: FastifyInstance, mediaType: string): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(mediaType, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** Makes a scope take JSON as text: whoever reads it says what is wrong with it. */
export function takeJsonText(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body),
  )
}

/** The media type that a request names, in lower case and without parameters; undefined where it names none. */
export function mediaTypeOf({ headers }: FastifyRequest): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
}
