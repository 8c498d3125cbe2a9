/** Reads what a client needs out of an answer: ours, or another WebRTC server's. Throws when something is missing. */

import { type Address, toAddress } from '../../core/index.ts'

/** What an answer says of the server. */
export interface Answer {
  readonly ufrag: string
  readonly pwd: string
  /** SHA-256, as the SDP spells it. */
  readonly fingerprint: string
  /** The server's DTLS role: `passive` makes the client the DTLS client. */
  readonly setup: 'active' | 'passive'
  /** UDP host candidates, the preferred one first. */
  readonly candidates: readonly Address[]
  readonly audio: {
    readonly payloadType: number
    readonly direction: string
    readonly ssrc: number | undefined
  }
  /** Undefined when the data channel was refused or not offered. */
  readonly data: { readonly sctpPort: number; readonly maxMessageSize: number } | undefined
}

/** Reads an answer to an offer with one audio line and at most one data channel line. */
export function readAnswer(sdp: string): Answer {
  const sections = sdp.split(/^(?=m=)/m)
  const audio = sections.find((section) => section.startsWith('m=audio '))
  const data = sections.find((section) => section.startsWith('m=application '))
  if (audio === undefined || /^m=audio 0 /.test(audio)) throw new Error(`the answer refuses audio:\n${sdp}`)
  const from = `${sections[0]}${audio}`
  const ssrc = /^a=ssrc:(\d+) /m.exec(audio)?.[1]
  return {
    ufrag: need(/^a=ice-ufrag:(\S+)/m, from),
    pwd: need(/^a=ice-pwd:(\S+)/m, from),
    fingerprint: need(/^a=fingerprint:sha-256 (\S+)/im, from),
    setup: need(/^a=setup:(\S+)/m, from) === 'active' ? 'active' : 'passive',
    candidates: readCandidates(sdp),
    audio: {
      payloadType: Number(need(/^m=audio \d+ \S+ (\d+)/m, audio)),
      direction: need(/^a=(sendrecv|sendonly|recvonly|inactive)\s*$/m, audio),
      ssrc: ssrc === undefined ? undefined : Number(ssrc),
    },
    data:
      data === undefined || /^m=application 0 /.test(data)
        ? undefined
        : {
            sctpPort: Number(/^a=sctp-port:(\d+)/m.exec(data)?.[1] ?? 5000),
            maxMessageSize: Number(/^a=max-message-size:(\d+)/m.exec(data)?.[1] ?? 65_536),
          },
  }
}

function readCandidates(sdp: string): Address[] {
  const lines = [...sdp.matchAll(/^a=candidate:\S+ 1 udp (\d+) (\S+) (\d+) typ host/gim)]
  return lines
    .toSorted((a, b) => Number(b[1]) - Number(a[1]))
    .flatMap(([, , host, port]) => toAddress(host!, Number(port)) ?? [])
}

function need(pattern: RegExp, text: string): string {
  const found = pattern.exec(text)?.[1]
  if (found === undefined) throw new Error(`the answer has nothing that matches ${pattern}:\n${text}`)
  return found
}
