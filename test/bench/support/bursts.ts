/** A backend's audio that comes in bursts, played on a clock that a test moves: how many gaps there are in what leaves. */

import { Prng } from '../../../core/testing/prng.ts'
import { MediaRig } from '../../unit/plugins/transceiver/media/media-rig.ts'

const BURST_MS = 2000
const PACKET_MS = 20
const PACKET_TICKS = 960
/** Each burst but the first is early by 2 s less up to so much. */
const LATE_MS = 1000

/** Gaps in so many seconds, and packets that never left. */
export function burstGaps(seconds: number): number {
  const random = new Prng(11)
  const rig = new MediaRig('opus')
  rig.session.start()
  const total = seconds * 1000
  for (let at = 0; at < total; at += BURST_MS) {
    const comesAt = at === 0 ? 0 : at - BURST_MS + random.below(LATE_MS)
    rig.time.after(comesAt, () => {
      for (let n = 0; n < BURST_MS / PACKET_MS; n++) {
        void rig.session.play({ data: Uint8Array.of(8, n), durationMs: PACKET_MS }, 'answer')
      }
    })
  }
  rig.time.advance(total + 10_000)
  const { sent } = rig
  const apart = sent.filter(
    ({ timestamp }, i) => i > 0 && (timestamp - sent[i - 1]!.timestamp) >>> 0 !== PACKET_TICKS,
  )
  return apart.length + (total / PACKET_MS - sent.length)
}
