/**
 * SDP fragments (RFC 8840 §9) as WHIP's PATCH carries them: read for credentials and candidates, and written for an ICE
 * restart. Pure.
 */

import { type Address, EdgeError } from '../../../core/index.ts'
import { candidateLines } from '../sdp/answer.ts'
import type { IceCredentials } from './reached-call.ts'

/** The media type of fragments. */
export const SDP_FRAGMENT = 'application/trickle-ice-sdpfrag'

/** What a fragment says. */
export interface SdpFragment {
  /** Undefined where there are none, as in an empty fragment. */
  readonly credentials: IceCredentials | undefined
}

const MAX_LINES = 512

/** Reads a fragment. Throws EdgeError `bad_request` for what is none. */
export function readSdpFragment(text: string): SdpFragment {
  const lines = text.split(/\r\n|\r|\n/, MAX_LINES + 1)
  if (lines.length > MAX_LINES) throw bad(`it has over ${MAX_LINES} lines`)
  const said = new Map<string, string>()
  for (const line of lines) {
    if (line === '') continue
    const [, name, value = ''] = /^a=([\w-]+)(?::(.*))?$/.exec(line) ?? []
    if (name === undefined && !/^m=\S+ \d{1,5} \S+ \S/.test(line) && !/^[vosctb]=/.test(line)) {
      throw bad(`${JSON.stringify(line.slice(0, 40))} is no line of one`)
    }
    if (name === 'candidate' && !/^\S+ \d+ \S+ \d+ \S+ \d+ typ \S+/.test(value)) {
      throw bad('one of its candidates is none')
    }
    if (name !== undefined && !said.has(name)) said.set(name, value)
  }
  return { credentials: readCredentials(said.get('ice-ufrag'), said.get('ice-pwd')) }
}

function readCredentials(ufrag: string | undefined, pwd: string | undefined): IceCredentials | undefined {
  if (ufrag === undefined && pwd === undefined) return undefined
  if (ufrag === undefined || pwd === undefined) throw bad('it has half of its ICE credentials')
  if (!/^[!-~]{4,256}$/.test(ufrag)) throw bad('a=ice-ufrag is not 4 to 256 characters')
  if (!/^[!-~]{22,256}$/.test(pwd)) throw bad('a=ice-pwd is not 22 to 256 characters')
  return { ufrag, pwd }
}

/** Writes the answer to an ICE restart: our new credentials, and all of our candidates again. CRLF throughout. */
export function writeSdpFragment(
  { ufrag, pwd }: IceCredentials,
  { candidates, mid }: { readonly candidates: readonly Address[]; readonly mid: string | undefined },
): string {
  const lines = ['a=ice-lite', `a=ice-ufrag:${ufrag}`, `a=ice-pwd:${pwd}`, 'm=audio 9 UDP/TLS/RTP/SAVPF 0']
  if (mid !== undefined) lines.push(`a=mid:${mid}`)
  return `${[...lines, ...candidateLines(candidates), 'a=end-of-candidates'].join('\r\n')}\r\n`
}

function bad(message: string): EdgeError {
  return new EdgeError('bad_request', `The SDP fragment cannot be read: ${message}.`)
}
