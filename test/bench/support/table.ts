/** A benchmark's figures as a table for people. Pure. */

import type { BenchFigure, BenchResult } from '../result.ts'

/** The table's text. */
export function toTable({ name, figures, notes = [] }: BenchResult, quick: boolean): string {
  const rows = [['figure', 'ours', 'beside it', 'ratio', 'target', ''], ...figures.flatMap(toRows)]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        NUMERIC.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  )
  const rule = '-'.repeat(Math.max(...lines.map((line) => line.length)))
  const title = quick ? `${name} (quick: a smoke test, not a measurement)` : name
  return [title, rule, lines[0], rule, ...lines.slice(1), rule, ...notes].join('\n')
}

const NUMERIC = new Set([1, 3])

function toRows({ label, value, unit, peers, target = '', met }: BenchFigure): string[][] {
  const verdict = met === undefined ? '' : met ? 'met' : 'MISSED'
  const first = peers[0]
  const row = [label, shown(value, unit), ...(first ? besideIt(first, unit) : ['', '']), target, verdict]
  return [row, ...peers.slice(1).map((peer) => ['', '', ...besideIt(peer, unit), '', ''])]
}

function besideIt(peer: BenchFigure['peers'][number], unit: string): [string, string] {
  return [`${peer.label} ${shown(peer.value, unit)}`, `${peer.ratio.toFixed(2)}×`]
}

/** A value and its unit, three digits that count. */
export function shown(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return `${value.toFixed(digits)} ${unit}`.trimEnd()
}
