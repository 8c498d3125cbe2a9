/** Figures beside others, and what they must be. Pure. */

import type { BenchFigure, BenchPeer } from '../result.ts'
import { NAMES } from './line-up.ts'

/** The value of a relay, by its name. */
export type Of = (name: string) => number | undefined

/** One figure of ours beside others of the same; nothing when ours is not known. */
export function beside(
  label: string,
  unit: string,
  of: Of,
  ours: string,
  others: readonly string[],
  judge?: Judge,
): BenchFigure[] {
  const value = of(ours)
  if (value === undefined) return []
  const peers = others.flatMap((name): BenchPeer[] => {
    const other = of(name)
    return other === undefined || other === 0 ? [] : [{ label: name, value: other, ratio: value / other }]
  })
  const verdict = judge?.(value, (name) => peers.find((peer) => peer.label === name)?.ratio)
  return [{ label, value, unit, peers, ...verdict }]
}

/** Says what is wanted and whether it was reached; `met` stays open when the peer is missing. */
export type Judge = (
  value: number,
  ratio: (peer: string) => number | undefined,
) => Pick<BenchFigure, 'target' | 'met'>

/** At most so many times the peer, and perhaps less than the Go relay where there is one. */
export function atMost(limit: number, peer: string, isBelowGo = false): Judge {
  return (_, ratio) => {
    const [own, go] = [ratio(peer), ratio(NAMES.go)]
    const target = `≤ ${limit}× ${peer}${isBelowGo ? ', < Go' : ''}`
    if (own === undefined) return { target }
    return { target, met: own <= limit && !(isBelowGo && go !== undefined && go >= 1) }
  }
}

/** At least so many times the peer. */
export function atLeast(limit: number, peer: string): Judge {
  return (_, ratio) => {
    const own = ratio(peer)
    const target = `≥ ${limit}× ${peer}`
    return own === undefined ? { target } : { target, met: own >= limit }
  }
}

/** A figure that stands alone and has an upper limit. */
export function limited(label: string, value: number, unit: string, most: number): BenchFigure {
  return { label, value, unit, peers: [], target: `≤ ${most} ${unit}`.trim(), met: value <= most }
}
