/** Says in one line why an import failed and where: a syntax error's own message names no file, its stack does. */

import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file and a line: at the head of a syntax error's stack, or in a frame; Node's own files are no match. */
const PLACE = /(?:^|\(|\bat (?:async )?)((?:file:\/\/)?\/[^\n()]*?):(\d+)(?::\d+)?\)?$/gm

/** `SyntaxError: … (plugins/relay/index.ts:12)`; the path is relative to `folder`. Frames in `ours` do not count. */
export function importFault(cause: unknown, folder: string, ours: string): string {
  if (!(cause instanceof Error)) return `it threw ${String(cause).split('\n')[0]}`
  const what = `${cause.name}: ${cause.message.split('\n')[0]}`
  for (const [, file = '', line] of (cause.stack ?? '').matchAll(PLACE)) {
    const path = file.startsWith('file:') ? fileURLToPath(file) : file
    if (!path.startsWith(ours)) return `${what} (${relative(folder, path)}:${line})`
  }
  return what
}
