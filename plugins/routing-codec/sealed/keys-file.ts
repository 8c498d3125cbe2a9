/**
 * A file of routing keys that may change under a running process. Good content is handed over, bad content is told
 * once and changes nothing.
 */

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { EdgeError } from '../../../core/index.ts'
import { parseKeys, type RoutingKey } from './keys.ts'

/** The largest file, in bytes: 16 keys take less than a tenth of it, and reading must not hold up calls. */
const MAX_BYTES = 65_536

/** What becomes of a change in the file. */
export interface KeysFileHandlers {
  /** What it throws is told to `onBad`. */
  onKeys(keys: RoutingKey[]): void
  /** Once for each bad content, not for each reading. */
  onBad(reason: string): void
}

type Reading = { text: string; keys: RoutingKey[] } | { text: string; reason: string }

/** A watched file of keys. */
export class KeysFile {
  readonly #path: string
  readonly #handlers: KeysFileHandlers
  /** What the last reading found, good or bad. */
  #last = ''
  #timer: NodeJS.Timeout | undefined
  #watching = false

  constructor(path: string, handlers: KeysFileHandlers) {
    this.#path = path
    this.#handlers = handlers
  }

  /** Reads the file for the first time. Throws EdgeError `config_invalid` naming the file. */
  async load(): Promise<RoutingKey[]> {
    const reading = await this.#read()
    if ('reason' in reading) {
      throw new EdgeError(
        'config_invalid',
        `the keys file ${this.#path} cannot be used: ${reading.reason}; it must hold a list like [{ "id": 1, "key": "<32 hex digits>" }]`,
      )
    }
    this.#last = reading.text
    return reading.keys
  }

  /**
   * Reads the file and tells what changed; never rejects. By content: a modification time can be the same for two writes, and a
   * mounted secret changes by its links.
   */
  async poll(): Promise<void> {
    const reading = await this.#read()
    if (reading.text === this.#last) return
    this.#last = reading.text
    if ('reason' in reading) this.#handlers.onBad(reading.reason)
    else this.#give(reading.keys)
  }

  /** Polls every `period` ms until `stop`; keeps no process alive. */
  watch(period: number): void {
    this.#watching = true
    this.#timer = setTimeout(async () => {
      await this.poll()
      if (this.#watching) this.watch(period)
    }, period)
    this.#timer.unref()
  }

  /** Ends the watch. */
  stop(): void {
    this.#watching = false
    clearTimeout(this.#timer)
  }

  /** Keys that cannot be taken are a bad content too: the watch goes on. */
  #give(keys: RoutingKey[]): void {
    try {
      this.#handlers.onKeys(keys)
    } catch (error) {
      this.#handlers.onBad(`its keys cannot be taken (${reasonOf(error)})`)
    }
  }

  async #read(): Promise<Reading> {
    let text: string
    try {
      text = await readSmall(this.#path)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
      return { text: `unreadable: ${code}`, reason: `it cannot be read (${code})` }
    }
    try {
      return { text, keys: parseKeys(text) }
    } catch (error) {
      return { text, reason: reasonOf(error) }
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A file's text. What is no file is not waited for: a pipe would hold the watch, and the process's end, for ever. */
async function readSmall(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const found = await file.stat()
  if (found.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' })
  if (!found.isFile()) throw Object.assign(new Error('it is no file'), { code: 'ENOTFILE' })
  if (found.size > MAX_BYTES) throw Object.assign(new Error('it is too large'), { code: 'EFBIG' })
  return await file.readFile('utf8')
}
