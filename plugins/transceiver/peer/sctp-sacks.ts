/**
 * Acknowledgements on their way in (RFC 9260 §6.2.1): only of what was sent, since werift believes any and never finds back;
 * and a receive window that the peer has closed is probed, since werift waits for ever.
 */

import type { WeriftSackChunk, WeriftSctp } from './werift-private.ts'

/** Puts the checks in front of werift's handling. */
export function guardSacks(sctp: WeriftSctp, onFault: (reason: string) => void): void {
  const receiveSackChunk = sctp.receiveSackChunk.bind(sctp)
  sctp.receiveSackChunk = async (chunk) => {
    if (!isPlausible(sctp, chunk)) {
      onFault('sack')
      return
    }
    await receiveSackChunk(chunk)
    // RFC 9260 §6.1 rule A: one chunk may always be in flight.
    if (sctp.outboundQueue.length > 0 && sctp.sentQueue.length === 0 && sctp.peerAdvertisedRwnd === 0) {
      sctp.peerAdvertisedRwnd = 1
      await sctp.transmit()
    }
  }
  const transmit = sctp.transmit.bind(sctp)
  // Called from a timer without anyone to catch.
  sctp.transmit = () => transmit().catch(() => onFault('send'))
}

function isPlausible(sctp: WeriftSctp, { cumulativeTsn, gaps }: WeriftSackChunk): boolean {
  const newest = sctp.sentQueue.at(-1)?.tsn ?? sctp.lastSackedTsn
  const missing = (newest - cumulativeTsn) | 0
  return missing >= 0 && (gaps.at(-1)?.[1] ?? 0) <= missing
}
