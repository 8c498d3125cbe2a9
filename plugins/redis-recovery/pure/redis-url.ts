/** Where Redis is, from text. Not ioredis' own reading: there, a query in the URL sets any of its options. */

/** A host and a port. */
export interface Host {
  readonly host: string
  readonly port: number
}

/** What a URL says; a part that it does not name is left out. */
export interface RedisUrl extends Host {
  readonly isTls: boolean
  readonly username?: string
  readonly password?: string
  readonly db?: number
}

const DEFAULT_PORT = 6379

/** Reads `redis://user:password@host:port/db` or `rediss://…`; what is wrong with it, as a text, when it is none. */
export function parseRedisUrl(text: string): RedisUrl | string {
  const url = URL.parse(text)
  if (!url || !/^rediss?:$/.test(url.protocol)) return 'is no redis:// or rediss:// URL'
  if (url.hostname === '') return 'names no host'
  if (url.search !== '' || url.hash !== '')
    return 'has a query or a fragment; say it in the options beside it'
  const db = /^\/?(\d{1,5})?$/.exec(url.pathname)
  if (!db) return 'has a path that is no number of a database'
  const username = decoded(url.username)
  const password = decoded(url.password)
  if (username === undefined || password === undefined) return 'has a "%" that encodes nothing'
  if (username !== '' && password === '') return 'names a user without a password'
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    isTls: url.protocol === 'rediss:',
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(db[1] === undefined ? {} : { db: Number(db[1]) }),
  }
}

/** Reads `host:port` or `[ip]:port`, or undefined. */
export function parseHost(text: string): Host | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  const host = match?.[1] ?? match?.[2]
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
