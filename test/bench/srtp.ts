/**
 * SRTP by OpenSSL through koffi beside SRTP by node:crypto: the same session code on both, the same packets, in
 * interleaved rounds, medians.
 */

import { randomBytes } from 'node:crypto'
import { SrtpSession } from '../../plugins/transceiver/media/srtp.ts'
import { opensslEngine } from '../../plugins/transceiver/media/srtp-engine.ts'
import { type SrtpProfile, saltLength } from '../../plugins/transceiver/media/srtp-keys.ts'
import { portableEngine } from '../../plugins/transceiver/media/srtp-portable.ts'
import type { SrtpEngine } from '../../plugins/transceiver/media/srtp-transform.ts'
import type { BenchFigure, BenchOptions, BenchResult } from './result.ts'

const PROFILES: readonly (readonly [SrtpProfile, string])[] = [
  [7, 'AEAD_AES_128_GCM'],
  [1, 'AES128_CM_HMAC_SHA1_80'],
]
const PAYLOAD = 80
const HEADER = 12
const SLOT = 128

/** Microseconds a packet. */
interface Round {
  protect: number
  unprotect: number
}

function session(profile: SrtpProfile, engine: SrtpEngine, key: Buffer, salt: Buffer): SrtpSession {
  return new SrtpSession(
    { profile, localKey: key, localSalt: salt, remoteKey: key, remoteSalt: salt },
    engine,
  )
}

/** Protects and unprotects `packets` packets, each in its own slot of `arena`. */
function round(profile: SrtpProfile, engine: SrtpEngine, arena: Buffer, packets: number): Round {
  const both = session(profile, engine, randomBytes(16), randomBytes(saltLength(profile)))
  for (let i = 0; i < packets; i++) {
    const at = i * SLOT
    arena.fill(i & 255, at, at + HEADER + PAYLOAD)
    arena[at] = 0x80
    arena[at + 1] = 111
    arena.writeUInt16BE(i & 0xffff, at + 2)
    arena.writeUInt32BE(7, at + 8)
  }
  const end = HEADER + PAYLOAD
  let sealedLength = 0
  const start = performance.now()
  for (let i = 0; i < packets; i++) sealedLength = both.protectRtp(arena, i * SLOT, i * SLOT + end) - i * SLOT
  const middle = performance.now()
  let opened = 0
  for (let i = 0; i < packets; i++) {
    if (both.unprotectRtp(arena, i * SLOT, i * SLOT + sealedLength) === i * SLOT + end) opened++
  }
  const finish = performance.now()
  both.close()
  if (opened !== packets) throw new Error(`only ${opened} of ${packets} packets opened`)
  return { protect: ((middle - start) * 1000) / packets, unprotect: ((finish - middle) * 1000) / packets }
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

/** Runs it; about 4 s, or a fraction of one when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  const packets = quick ? 2000 : 20_000
  const rounds = quick ? 3 : 9
  const arena = Buffer.alloc(packets * SLOT)
  const figures: BenchFigure[] = []
  for (const [profile, name] of PROFILES) {
    const ours: Round[] = []
    const theirs: Round[] = []
    for (let i = -1; i < rounds; i++) {
      const mine = round(profile, opensslEngine, arena, packets)
      const other = round(profile, portableEngine, arena, packets)
      // The first round warms up.
      if (i < 0) continue
      ours.push(mine)
      theirs.push(other)
    }
    for (const step of ['protect', 'unprotect'] as const) {
      const value = median(ours.map((one) => one[step]))
      const peer = median(theirs.map((one) => one[step]))
      const ratio = value / peer
      figures.push({
        label: `${name}, ${PAYLOAD} B, ${step}`,
        value,
        unit: 'µs',
        peers: [{ label: 'node:crypto', value: peer, ratio }],
        target: '≤ 0.5× node:crypto',
        met: ratio <= 0.5,
      })
    }
  }
  return { name: 'srtp', figures }
}
