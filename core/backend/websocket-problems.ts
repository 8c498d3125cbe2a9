/** What an operator can get wrong in the url and the headers of a backend's WebSocket, besides what a schema says. */

import { join } from '../config/pointer.ts'
import type { Problem } from '../plugin.ts'

/** A token (RFC 9110 §5.6.2). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** The problems of the options `url` and `headers`, for a plugin's `check`. */
export function webSocketProblems(options: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}): Problem[] {
  const problems: Problem[] = []
  const url = URL.parse(options.url)
  if (!url) problems.push({ pointer: '/url', message: 'is no URL', hint: 'write it as wss://host:port/path' })
  else if (url.hash)
    problems.push({ pointer: '/url', message: 'has a fragment (#…), which a WebSocket cannot have' })
  for (const name of Object.keys(options.headers)) {
    if (HEADER_NAME.test(name)) continue
    problems.push({ pointer: join('/headers', name), message: 'is no name of an HTTP header' })
  }
  return problems
}
