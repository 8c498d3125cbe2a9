/** The offers in `test/fixtures/offers`, with CRLF as they travel, and ways to change them. */

import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('../../../../fixtures/offers/', import.meta.url)

/** The names of all offers. */
export const OFFER_NAMES: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.sdp'))
  .map((name) => name.slice(0, -4))

/** An offer by name. */
export function offerText(name: string): string {
  return readFileSync(new URL(`${name}.sdp`, folder), 'utf8').replaceAll(/\r?\n/g, '\r\n')
}

/** `text` without the lines that match. */
export function without(text: string, line: RegExp): string {
  return text
    .split('\r\n')
    .filter((l) => !line.test(l))
    .join('\r\n')
}

/** Chrome's offer, its audio line alone, without BUNDLE. */
export function audioOnly(): string {
  const chrome = offerText('chrome')
  return without(chrome.slice(0, chrome.indexOf('m=application')), /^a=group/)
}
