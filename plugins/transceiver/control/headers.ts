/**
 * The headers that travel with a request to its call's owner and with the answer back, and nothing else does. All of
 * them are signed. Pure.
 *
 * What a caller is known by (`authorization`, `api-key`, a key among the WebSocket's subprotocols) stays where it came:
 * the owner is told the caller's name.
 */

import type { IncomingHttpHeaders } from 'node:http'

/** Headers by their lower-case names. */
export type Headers = Readonly<Record<string, string>>

/** What goes with a request. */
export const REQUEST_HEADERS = [
  'accept',
  'content-type',
  'if-match',
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-protocol',
  'sec-websocket-version',
  'traceparent',
  'upgrade',
] as const

/** What comes back with an answer. */
export const ANSWER_HEADERS = [
  'accept-patch',
  'accept-post',
  'allow',
  'cache-control',
  'content-type',
  'etag',
  'link',
  'location',
  'retry-after',
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'upgrade',
] as const

/** Subprotocols that are a secret and no protocol, as OpenAI's browser clients send them. */
const SECRET_SUBPROTOCOL = /\bapi-key\./i

/** Those of `names` that are there, in the order of `names`. */
export function pickHeaders(
  headers: Readonly<Record<string, string | number | readonly string[] | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = headers[name]
    if (typeof value === 'string' || typeof value === 'number') picked[name] = String(value)
    else if (value !== undefined && value.length > 0) picked[name] = value.join(', ')
  }
  return picked
}

/** What of a public request's headers goes to the owner. */
export function headersToPass(headers: IncomingHttpHeaders): Record<string, string> {
  const picked = pickHeaders(headers, REQUEST_HEADERS)
  const offered = picked['sec-websocket-protocol']?.split(',').map((one) => one.trim())
  const harmless = offered?.filter((one) => !SECRET_SUBPROTOCOL.test(one)).join(', ')
  if (harmless) picked['sec-websocket-protocol'] = harmless
  else delete picked['sec-websocket-protocol']
  return picked
}
