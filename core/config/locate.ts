/** Where in the text a JSON pointer leads, in lines and columns. Pure. */

import type { Member, Node } from './json.ts'
import { join, parts } from './pointer.ts'

/** A place in a text; both count from 1, columns in UTF-16 units as editors do. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** The place of an offset. */
export function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  let line = 1
  for (let i = before.indexOf('\n'); i >= 0; i = before.indexOf('\n', i + 1)) line++
  return { line, column: offset - lineStart + 1 }
}

/** The place a pointer leads to: a property's key, an item's value; of a pointer that leads nowhere, its nearest parent. */
export function locate(text: string, root: Node, pointer: string): Place {
  let node = root
  let at = root.at
  for (const part of parts(pointer)) {
    if (node.kind === 'object') {
      const member: Member | undefined = node.members.findLast(({ key }) => key === part)
      if (!member) break
      at = member.keyAt
      node = member.node
    } else if (node.kind === 'array') {
      const item: Node | undefined = node.items[Number(part)]
      if (!item) break
      at = item.at
      node = item
    } else break
  }
  return placeOf(text, at)
}

/** Every key that an object has twice: its pointer, and the offsets of the second and the first. */
export function duplicates(node: Node, pointer = ''): { pointer: string; at: number; first: number }[] {
  if (node.kind === 'scalar') return []
  if (node.kind === 'array') return node.items.flatMap((item, i) => duplicates(item, join(pointer, i)))
  const seen = new Map<string, number>()
  return node.members.flatMap((member) => {
    const at = join(pointer, member.key)
    const first = seen.get(member.key)
    if (first === undefined) seen.set(member.key, member.keyAt)
    const own = first === undefined ? [] : [{ pointer: at, at: member.keyAt, first }]
    return [...own, ...duplicates(member.node, at)]
  })
}
