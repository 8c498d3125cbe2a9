/**
 * The transport of an offer: ICE credentials, certificate fingerprints and DTLS roles, from the m-line, from the one
 * that carries its BUNDLE group, or from the session (RFC 8839 §5.4, RFC 8122 §5, RFC 8842 §5). Pure.
 */

import type { SessionDescription } from 'sdp-transform'
import { type Fingerprint, toPin } from '../peer/dtls-fingerprints.ts'
import { invalid, quote, type Section, unsupported } from './sections.ts'

/** How an offer's packets travel. */
export interface OfferedTransport {
  readonly ice: { readonly ufrag: string; readonly pwd: string }
  /** SHA-256 and SHA-512 only, at least one; the certificate must match any. */
  readonly fingerprints: readonly Fingerprint[]
  readonly setup: 'actpass' | 'active' | 'passive'
  /** Our own DTLS role in the answer: `active` is the DTLS client. */
  readonly answerSetup: 'active' | 'passive'
}

const MAX_FINGERPRINTS = 8

/** Reads the transport from `sections`, the first that has each attribute, then from the session. */
export function readTransport(
  sections: readonly Section[],
  session: SessionDescription,
  sessionFingerprints: readonly Fingerprint[],
): OfferedTransport {
  const levels = [...sections.map((s) => s.attributes), session]
  const ice = levels.find((level) => level.iceUfrag !== undefined || level.icePwd !== undefined)
  const setup = readSetup(levels.find((level) => level.setup !== undefined)?.setup)
  const fingerprints =
    [...sections.map((s) => s.fingerprints), sessionFingerprints].find((f) => f.length > 0) ?? []
  if (session.icelite !== undefined) throw unsupported('it says a=ice-lite, and one side must do full ICE')
  return {
    ice: { ufrag: String(ice?.iceUfrag ?? ''), pwd: String(ice?.icePwd ?? '') },
    fingerprints: usable(fingerprints),
    setup,
    answerSetup: setup === 'passive' ? 'active' : 'passive',
  }
}

/** Throws `invalid_sdp` for credentials out of their bounds (RFC 8839 §5.4). */
export function checkTransport({ ice }: OfferedTransport): void {
  if (ice.ufrag === '' || ice.pwd === '')
    throw invalid('it has no ICE credentials (a=ice-ufrag and a=ice-pwd)')
  if (!/^[!-~]{4,256}$/.test(ice.ufrag))
    throw invalid(`a=ice-ufrag:${quote(ice.ufrag)} is not 4 to 256 characters`)
  if (!/^[!-~]{22,256}$/.test(ice.pwd)) throw invalid('a=ice-pwd is not 22 to 256 characters')
}

/** In an offer, none means actpass (RFC 8842 §5.1). */
function readSetup(setup: string | undefined): OfferedTransport['setup'] {
  if (setup === undefined || setup === 'actpass') return 'actpass'
  if (setup === 'active' || setup === 'passive') return setup
  if (setup === 'holdconn') throw unsupported('a=setup:holdconn asks for no connection')
  throw invalid(`a=setup:${quote(String(setup))} is none of actpass, active, passive and holdconn`)
}

function usable(fingerprints: readonly Fingerprint[]): Fingerprint[] {
  if (fingerprints.length === 0)
    throw invalid('it has no well-formed certificate fingerprint (a=fingerprint)')
  const good = fingerprints.filter((one) => toPin(one) !== undefined)
  if (good.length > 0) return good.slice(0, MAX_FINGERPRINTS)
  const offered = [...new Set(fingerprints.map((f) => f.algorithm))].slice(0, 4).join(', ')
  throw unsupported(
    `its certificate needs a whole sha-256 or sha-512 fingerprint (a=fingerprint); it has ${offered}`,
  )
}
