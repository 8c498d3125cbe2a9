/** The page's files: a fixed list, read once at start and kept, each with its type and its ETag. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/** The page itself; the others lie in a folder below it. */
export const PAGE = 'index.html'

/** Everything the page loads. Nothing else of the folder is ever served. */
export const ASSETS = [
  'audio-clock.js',
  'call.js',
  'conversation.css',
  'conversation.js',
  'edge.js',
  'events.js',
  'hearing.js',
  'icon.svg',
  'lanes.js',
  'latency.js',
  'level-worklet.js',
  'listener.js',
  'meters.js',
  'microphone.js',
  'page.js',
  'panels.css',
  'parts.css',
  'problems.js',
  'realtime-events.js',
  'stages.js',
  'stats.js',
  'style.css',
  'turn-list.js',
  'turn-rows.js',
  'turns.css',
  'turns.js',
  'words.js',
] as const

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** A file in memory. */
export interface PageFile {
  readonly name: string
  readonly type: string
  /** Strong, quoted (RFC 9110 §8.8.3). */
  readonly etag: string
  readonly body: Buffer
}

/** Reads the page and its assets. Rejects when one is missing. */
export async function readPage(folder = new URL('public/', import.meta.url)): Promise<PageFile[]> {
  return Promise.all([PAGE, ...ASSETS].map((name) => readOne(folder, name)))
}

async function readOne(folder: URL, name: string): Promise<PageFile> {
  const body = await readFile(new URL(name, folder))
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const extension = name.slice(name.lastIndexOf('.') + 1)
  return { name, type: TYPES[extension] ?? 'application/octet-stream', etag, body }
}

/** Does an If-None-Match header name this ETag (RFC 9110 §13.1.2)? */
export function isCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
