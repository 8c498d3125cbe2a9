/** A benchmark's figures as Markdown, and their place in a document. Pure. */

import type { BenchFigure, BenchResult } from '../result.ts'
import { shown } from '../support/table.ts'

const BEGIN = '<!-- relay: written by test/bench/relay/report.ts -->'
const END = '<!-- relay: end -->'

/** A table with a row for each figure, and the notes under it. */
export function toMarkdown({ figures, notes = [] }: BenchResult): string {
  const rows = [['figure', 'ours', 'beside it', 'target', ''], ...figures.map(toRow)]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`)
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [lines[0], rule, ...lines.slice(1), '', ...notes.map((note) => `- ${note}`)].join('\n')
}

function toRow({ label, value, unit, peers, target = '', met }: BenchFigure): string[] {
  const beside = peers.map((peer) => `${peer.label} ${shown(peer.value, unit)} (${peer.ratio.toFixed(2)}×)`)
  const verdict = met === undefined ? '' : met ? 'met' : '**missed**'
  return [label, shown(value, unit), beside.join('; '), target, verdict]
}

/** The document with `text` between its markers. Throws when it has none. */
export function replaceBetween(document: string, text: string): string {
  const begin = document.indexOf(BEGIN)
  const end = document.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`the document has no "${BEGIN}" … "${END}"`)
  return `${document.slice(0, begin + BEGIN.length)}\n\n${text}\n\n${document.slice(end)}`
}
