/**
 * Reads a WebRTC offer into what the answer and the session need: one Opus audio line, at most one data channel line,
 * and the one transport they share. It checks everything it passes on; whatever comes in, only an `EdgeError` comes out.
 *
 * `sdp-transform` reads the attributes, of the lines that `sections.ts` lets through. Pure.
 */

import { parse, type SessionDescription } from 'sdp-transform'
import { EdgeError } from '../../../core/index.ts'
import { type OfferedAudio, readAudio } from './offered-audio.ts'
import { type OfferedData, readData } from './offered-data.ts'
import {
  cutSections,
  invalid,
  type MediaLine,
  quote,
  type Section,
  type Sections,
  unsupported,
} from './sections.ts'
import { checkTransport, type OfferedTransport, readTransport } from './transport.ts'

export type { Fingerprint } from '../peer/dtls-fingerprints.ts'
export type { OfferedAudio } from './offered-audio.ts'
export type { OfferedData } from './offered-data.ts'

/** One m-line of an offer, in the offer's order, with what becomes of it. */
export interface OfferedMedia extends MediaLine {
  readonly mid: string | undefined
  readonly accepted: 'audio' | 'data' | false
}

/** An offer that can be answered. */
export interface Offer extends OfferedTransport {
  readonly audio: OfferedAudio
  readonly data: OfferedData | undefined
  /** Whether the accepted lines go into a BUNDLE group (RFC 9143). */
  readonly bundled: boolean
  readonly media: readonly OfferedMedia[]
}

/**
 * Reads an offer.
 *
 * Throws `invalid_sdp` for what is no offer, `no_audio` when no line has Opus to offer, and `unsupported_offer` for
 * what is valid but cannot be served.
 */
export function parseOffer(text: string): Offer {
  const cut = cutSections(text)
  const session = parse(cut.kept)
  const group = readGroup(session)
  const sections = readSections(cut, session, group)
  const audioSection = sections.find((s) => s.live && readAudio(s, session))
  const audio = audioSection && readAudio(audioSection, session)
  if (!audioSection || !audio) throw noAudio(sections)
  const dataSection = sections.find((s) => s.live && readData(s))
  const bundled = audio.mid !== undefined && group.includes(audio.mid)
  if (dataSection && !(bundled && dataSection.mid !== undefined && group.includes(dataSection.mid))) {
    throw unsupported(
      'its audio and its data channel must share one transport (a=group:BUNDLE with both mids)',
    )
  }
  const tagged = sections.find((s) => s.mid !== undefined && s.mid === group[0])
  const transport = readTransport(
    bundled && tagged ? [audioSection, tagged] : [audioSection],
    session,
    cut.session,
  )
  checkTransport(transport)
  return {
    ...transport,
    audio,
    data: dataSection && readData(dataSection),
    bundled,
    media: sections.map((s) => ({
      ...s.line,
      mid: s.mid,
      accepted: s === audioSection ? 'audio' : s === dataSection ? 'data' : false,
    })),
  }
}

function noAudio(sections: readonly Section[]): EdgeError {
  const kinds = sections.map((s) => s.line.type)
  const what = kinds.includes('audio')
    ? 'no audio line of the offer has Opus (a=rtpmap:<n> opus/48000/2) and is in use'
    : `the offer has no audio line (${kinds.length ? quote(kinds.join(', ')) : 'it has no m-line at all'})`
  return new EdgeError('no_audio', `A call needs Opus audio, but ${what}.`, { param: 'sdp' })
}

/** The mids of the first BUNDLE group. */
function readGroup(session: SessionDescription): readonly string[] {
  const group = session.groups?.find((g) => g.type === 'BUNDLE')
  return group?.mids === undefined ? [] : String(group.mids).split(' ').filter(Boolean)
}

function readSections(cut: Sections, session: SessionDescription, group: readonly string[]): Section[] {
  const seen = new Set<string>()
  return cut.media.map(({ line, fingerprints }, index) => {
    const attributes = session.media[index]!
    const mid = attributes.mid === undefined ? undefined : String(attributes.mid)
    if (mid !== undefined) {
      if (!/^[!-~]{1,64}$/.test(mid)) throw invalid(`a=mid:${quote(mid)} is not 1 to 64 printable characters`)
      if (seen.has(mid)) throw invalid(`two m-lines have a=mid:${mid}`)
      seen.add(mid)
    }
    const bundleOnly = attributes.bundleOnly !== undefined && mid !== undefined && group.includes(mid)
    return { line, fingerprints, attributes, mid, live: line.port !== 0 || bundleOnly }
  })
}
