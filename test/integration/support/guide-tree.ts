/** The tree of a call's spans as docs/guides/look-at-a-call.md has it. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const GUIDE = join(import.meta.dirname, '..', '..', '..', 'docs', 'guides', 'look-at-a-call.md')

/** The tree's lines: each a span's name, indented by its parents; what the guide says of them left out. */
export function guideTree(): string[] {
  const tree = /```tree\n(.*?)\n```/s.exec(readFileSync(GUIDE, 'utf8'))?.[1]
  if (tree === undefined) throw new Error('the guide has no tree')
  return tree.split('\n').map((line) => line.replace(/(\S) {2,}.*/, '$1'))
}
