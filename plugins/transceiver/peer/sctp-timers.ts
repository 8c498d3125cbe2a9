/**
 * werift's SCTP timers, replaced: one timeout for all of them, back-off, an end to retransmission, no heartbeats.
 *
 * Timeouts are shorter than RFC 9260 §16 suggests, as in other WebRTC stacks: people wait on what is sent.
 */

import type { Timer } from './shared-timer.ts'
import type { WeriftSctp } from './werift-private.ts'

/** Association.Max.Retrans and Max.Init.Retransmits. */
const MAX_RETRANSMISSIONS = 10
const MAX_INIT_RETRANSMISSIONS = 8
const INITIAL_RTO_SECONDS = 1
/** Twice what a peer may delay its acknowledgement by. */
const MIN_RTO_SECONDS = 0.4
const MAX_RTO_SECONDS = 8

/** Replaces the timers of `sctp` by deadlines on `timer`; `fail` hears why the association must end. */
export function replaceTimers(sctp: WeriftSctp, timer: Timer, fail: (reason: string) => void): void {
  sctp.rto = INITIAL_RTO_SECONDS
  sctp.heartbeatStart = () => {} // ICE consent and DTLS tell when the peer is gone
  replaceInitTimer(sctp, timer, fail)
  replaceRetransmissionTimer(sctp, timer, fail)
  replaceResetTimer(sctp, timer, fail)
}

function replaceInitTimer(sctp: WeriftSctp, timer: Timer, fail: (reason: string) => void): void {
  const expired = (tries: number): void => {
    if (tries > MAX_INIT_RETRANSMISSIONS) {
      fail('no_answer')
      return
    }
    if (sctp.timer1Chunk) sctp.sendChunk(sctp.timer1Chunk).catch(() => {})
    timer.set('init', backOff(sctp.rto, tries), () => expired(tries + 1))
  }
  sctp.timer1Start = (chunk) => {
    sctp.timer1Chunk = chunk
    timer.set('init', sctp.rto * 1000, () => expired(1))
  }
  sctp.timer1Cancel = () => {
    sctp.timer1Chunk = undefined
    timer.clear('init')
  }
}

/** T3-rtx, RFC 9260 §6.3.3 and §8.1. */
function replaceRetransmissionTimer(sctp: WeriftSctp, timer: Timer, fail: (reason: string) => void): void {
  const { timer3Expired } = sctp
  let tries = 0
  let acknowledged = sctp.lastSackedTsn
  sctp.timer3Start = () => {
    if (sctp.isStopped) return
    sctp.timer3Handle = timer
    timer.set('retransmit', sctp.rto * 1000, () => {
      if (sctp.lastSackedTsn !== acknowledged) tries = 0
      acknowledged = sctp.lastSackedTsn
      if (++tries > MAX_RETRANSMISSIONS) {
        fail('unacknowledged')
        return
      }
      sctp.rto = Math.min(sctp.rto * 2, MAX_RTO_SECONDS)
      timer3Expired()
    })
  }
  sctp.timer3Restart = sctp.timer3Start
  sctp.timer3Cancel = () => {
    sctp.timer3Handle = undefined
    timer.clear('retransmit')
  }
  const updateRto = sctp.updateRto.bind(sctp)
  sctp.updateRto = (seconds) => {
    updateRto(Math.max(0, seconds))
    sctp.rto = Math.min(Math.max(sctp.srtt + 4 * sctp.rttvar, MIN_RTO_SECONDS), MAX_RTO_SECONDS)
  }
}

/** Stream reset requests, RFC 6525 §5.1.1. */
function replaceResetTimer(sctp: WeriftSctp, timer: Timer, fail: (reason: string) => void): void {
  const expired = (tries: number): void => {
    if (tries > MAX_RETRANSMISSIONS) {
      fail('reset_unanswered')
      return
    }
    if (!sctp.reconfigRequest) return
    sctp.sendReconfigParam(sctp.reconfigRequest).catch(() => {})
    timer.set('reset', backOff(sctp.rto, tries), () => expired(tries + 1))
  }
  sctp.timerReconfigHandleStart = () => {
    sctp.timerReconfigHandle = timer
    timer.set('reset', sctp.rto * 1000, () => expired(1))
  }
  sctp.timerReconfigCancel = () => {
    sctp.timerReconfigHandle = undefined
    timer.clear('reset')
  }
}

/** In milliseconds. */
function backOff(rtoSeconds: number, tries: number): number {
  return Math.min(rtoSeconds * 2 ** tries, MAX_RTO_SECONDS) * 1000
}
