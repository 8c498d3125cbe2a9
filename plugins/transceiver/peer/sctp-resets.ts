/**
 * Stream resets (RFC 6525), which close data channels: each request handled once, and not before the data ahead of it;
 * ours sent in turn even where we have sent nothing, since the peer waits for it.
 */

import type { SctpInbound } from './sctp-inbound.ts'
import { loadWeriftSctp, type WeriftReconfigParam, type WeriftSctp } from './werift-private.ts'

const OUTGOING_REQUEST = 13
const RESPONSE = 16
const PERFORMED = 1

/** Puts the checks in front of werift's handling; `streamIds` tells the streams that have a channel. */
export function guardResets(sctp: WeriftSctp, inbound: SctpInbound, streamIds: () => number[]): void {
  const inner = sctp.receiveReconfigParam.bind(sctp)
  sctp.receiveReconfigParam = async (param) => {
    const { rto } = sctp
    if (param.type === OUTGOING_REQUEST && !(await accept(sctp, inbound, param, streamIds))) return
    await inner(param)
    // werift sets its initial timeout here, whatever was measured.
    if (param.type === RESPONSE) sctp.rto = rto
  }
}

async function accept(
  sctp: WeriftSctp,
  inbound: SctpInbound,
  param: WeriftReconfigParam,
  streamIds: () => number[],
): Promise<boolean> {
  const age = (param.requestSequence - sctp.reconfigResponseSeq) | 0
  if (age === 0) {
    const { ReconfigResponseParam } = loadWeriftSctp()
    await sctp.sendReconfigParam(new ReconfigResponseParam(param.requestSequence, PERFORMED))
  }
  // RFC 6525 §5.2.2: not before the data ahead of it has come; the peer asks again.
  if (age <= 0 || ((inbound.cumulative - param.lastTsn) | 0) < 0) return false
  const known = streamIds()
  if (param.streams.length === 0) param.streams = known
  for (const streamId of param.streams) {
    inbound.resetStream(streamId)
    const asked = sctp.reconfigQueue.includes(streamId) || sctp.reconfigRequest?.streams.includes(streamId)
    if (known.includes(streamId) && !asked) sctp.reconfigQueue.push(streamId)
  }
  return true
}
