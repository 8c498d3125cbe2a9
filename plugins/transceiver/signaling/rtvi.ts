/**
 * What pipecat's clients say on the data channel beside events (RTVI): the transport's own pings and track states, which
 * end here, and `client-ready`, which is answered, since a client waits for it. Pure.
 */

import { isJsonObject } from './json.ts'

/** Pipecat's version of the protocol that we answer for. */
const VERSION = '1.0.0'

/** What is answered to a text; empty for what ends here; undefined for what is an event as any other. */
export function interceptRtvi(text: string): string | undefined {
  if (text.startsWith('ping')) return ''
  // Most texts are neither, and are parsed once, by who takes them.
  if (!text.includes('"signalling"') && !text.includes('"client-ready"')) return undefined
  const message = read(text)
  if (message?.type === 'signalling') return ''
  if (message?.label !== 'rtvi-ai' || message.type !== 'client-ready') return undefined
  // Ids are text; whatever else stands there may nest too deep to be written.
  const id = typeof message.id === 'string' ? message.id : null
  const data = { version: VERSION, about: { library: 'earshot' } }
  return JSON.stringify({ label: 'rtvi-ai', type: 'bot-ready', id, data })
}

function read(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
