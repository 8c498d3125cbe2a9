/**
 * TLS to Redis, from PEM files that change under a running process: certificates are renewed. They are read at the start
 * and each time that a connection was lost, so that the next one is made with what is there by then. What cannot be used
 * is told once and changes nothing.
 */

import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { RedisOptions as IoredisOptions } from 'ioredis'
import { type Context, EdgeError } from '../../core/index.ts'
import type { RedisOptions } from './options.ts'

type Tls = NonNullable<IoredisOptions['tls']>
type TlsOption = NonNullable<RedisOptions['tls']>

interface Pems {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

/** The files that an operator names, and what is in them. */
export class TlsFiles {
  /** For ioredis, which copies it for each connection: it is changed in place. */
  readonly settings: Tls
  readonly #option: TlsOption
  #pems: Pems
  #reading: Promise<void> | undefined
  #told: string | undefined

  private constructor(option: TlsOption, pems: Pems) {
    this.#option = option
    this.#pems = pems
    const { servername } = option
    this.settings = { ...pems, ...(servername === undefined ? {} : { servername }) }
  }

  /** Reads them for the first time. Rejects with EdgeError `config_invalid` when one cannot be used. */
  static async load(option: TlsOption): Promise<TlsFiles> {
    return new TlsFiles(option, await readAll(option))
  }

  /** Reads them again, if there are any. Never rejects; while it reads, another call is the same. */
  reread(log: Context['log']): Promise<void> {
    if (Object.keys(this.#pems).length === 0) return Promise.resolve()
    this.#reading ??= this.#reread(log).finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #reread(log: Context['log']): Promise<void> {
    try {
      const pems = await readAll(this.#option)
      this.#told = undefined
      if (isSame(pems, this.#pems)) return
      this.#pems = pems
      Object.assign(this.settings, pems)
      log.info('TLS files for redis re-read')
    } catch (error) {
      const reason = toReason(error)
      if (reason === this.#told) return
      this.#told = reason
      log.warn({ reason }, 'TLS files for redis are bad: keeping what was in them')
    }
  }
}

async function readAll({ ca, cert, key }: TlsOption): Promise<Pems> {
  const pems: Pems = {
    ...(ca === undefined ? {} : { ca: await pem('ca', ca) }),
    ...(cert === undefined ? {} : { cert: await pem('cert', cert) }),
    ...(key === undefined ? {} : { key: await pem('key', key) }),
  }
  try {
    // Refuses what is no PEM, and a key that is another certificate's, as when only one of the two is new yet.
    createSecureContext(pems)
  } catch (error) {
    throw new EdgeError('config_invalid', `the files in tls do not work: ${toReason(error)}`, {
      cause: error,
    })
  }
  return pems
}

async function pem(name: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new EdgeError('config_invalid', `tls.${name} cannot be read: ${toReason(error)}`, { cause: error })
  }
}

function isSame(a: Pems, b: Pems): boolean {
  return (['ca', 'cert', 'key'] as const).every((name) => String(a[name]) === String(b[name]))
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
