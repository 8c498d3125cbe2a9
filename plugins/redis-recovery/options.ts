/** What an operator can set on the recovery store in Redis. */

import { type Problem, type Static, Type } from '../../core/index.ts'
import { parseHost, parseRedisUrl } from './pure/redis-url.ts'

const Hosts = (description: string) =>
  Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 64, description })

const Milliseconds = (byDefault: number, description: string) =>
  Type.Integer({ default: byDefault, minimum: 10, maximum: 60_000, description })

/** The schema of the options. */
export const Options = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        pattern: '^rediss?://',
        writeOnly: true,
        description: 'One server: redis://user:password@host:6379/0, or rediss:// for TLS.',
      }),
    ),
    sentinel: Type.Optional(
      Type.Object(
        {
          name: Type.String({ minLength: 1, description: 'What the sentinels call the master.' }),
          hosts: Hosts('Sentinels as host:port.'),
          username: Type.Optional(Type.String({ minLength: 1, description: "The sentinels' own ACL user." })),
          password: Type.Optional(
            Type.String({ minLength: 1, writeOnly: true, description: "The sentinels' own password." }),
          ),
          tls: Type.Boolean({
            default: false,
            description: 'TLS to the sentinels too; takes `tls` beside it.',
          }),
        },
        { additionalProperties: false, description: 'A master that sentinels name.' },
      ),
    ),
    cluster: Type.Optional(
      Type.Object(
        { hosts: Hosts('Some of the nodes as host:port; they tell of the others.') },
        { additionalProperties: false, description: 'A Redis Cluster.' },
      ),
    ),
    username: Type.Optional(
      Type.String({ minLength: 1, description: 'ACL user, where the URL does not name one.' }),
    ),
    password: Type.Optional(
      Type.String({ minLength: 1, writeOnly: true, description: 'Its password, or that of `default`.' }),
    ),
    db: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65_535,
        description: 'Database, where the URL does not name one.',
      }),
    ),
    tls: Type.Optional(
      Type.Object(
        {
          ca: Type.Optional(
            Type.String({ minLength: 1, description: 'PEM file of the authority to trust.' }),
          ),
          cert: Type.Optional(Type.String({ minLength: 1, description: 'PEM file of our own certificate.' })),
          key: Type.Optional(Type.String({ minLength: 1, description: 'PEM file of its key.' })),
          servername: Type.Optional(
            Type.String({
              minLength: 1,
              description: "The name in the server's certificate, if not its host.",
            }),
          ),
        },
        { additionalProperties: false, description: 'TLS to servers; {} takes the system’s authorities.' },
      ),
    ),
    keyPrefix: Type.String({
      default: 'earshot:',
      pattern: '^[^{}\\s]{0,64}$',
      description: 'In front of every key; without braces, which would put a cluster’s keys into one slot.',
    }),
    secret: Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      writeOnly: true,
      description: 'The same 64 hex digits in every relay; `openssl rand -hex 32` makes them.',
    }),
    commandTimeoutMs: Milliseconds(500, 'How long Redis may take to answer.'),
    connectTimeoutMs: Milliseconds(2_000, 'How long connecting may take.'),
    maxQueued: Type.Integer({
      default: 16_384,
      minimum: 1,
      maximum: 1_048_576,
      description: 'Writes that wait while Redis is slow or away; the oldest goes when there are more.',
    }),
  },
  { additionalProperties: false },
)

/** The options with their defaults filled in. */
export type RedisOptions = Static<typeof Options>

/** What the schema cannot say: one way to Redis, a URL that is one, and what goes together. */
export function check(options: RedisOptions): Problem[] {
  return [...oneWay(options), ...url(options), ...hosts(options), ...credentials(options), ...tls(options)]
}

function oneWay(options: RedisOptions): Problem[] {
  const given = (['url', 'sentinel', 'cluster'] as const).filter((name) => options[name] !== undefined)
  if (given.length === 1) return []
  const hint = 'give exactly one of "url", "sentinel" and "cluster"'
  if (given.length === 0) return [{ pointer: '', message: 'it is not said where Redis is', hint }]
  return [{ pointer: `/${given[1]}`, message: `"${given.join('" and "')}" are given`, hint }]
}

function url(options: RedisOptions): Problem[] {
  if (options.url === undefined) return []
  const parsed = parseRedisUrl(options.url)
  if (typeof parsed === 'string') {
    return [{ pointer: '/url', message: parsed, hint: 'write it as redis://user:password@host:6379/0' }]
  }
  const twice = (['username', 'password', 'db'] as const).filter(
    (name) => parsed[name] !== undefined && options[name] !== undefined,
  )
  return twice.map((name) => ({
    pointer: `/${name}`,
    message: `"${name}" is in the URL as well`,
    hint: 'keep one of them',
  }))
}

function hosts({ sentinel, cluster }: RedisOptions): Problem[] {
  const lists = { sentinel: sentinel?.hosts ?? [], cluster: cluster?.hosts ?? [] }
  return Object.entries(lists).flatMap(([name, list]) =>
    list.flatMap((text, i) =>
      parseHost(text)
        ? []
        : [
            {
              pointer: `/${name}/hosts/${i}`,
              message: `"${text}" is not a host:port`,
              hint: 'for example redis-1:6379, 10.0.0.5:6379 or [fd00::5]:6379',
            },
          ],
    ),
  )
}

function credentials({ username, password, sentinel, cluster, db }: RedisOptions): Problem[] {
  const problems: Problem[] = []
  const hint = 'give the password too'
  if (username !== undefined && password === undefined) {
    problems.push({ pointer: '/username', message: 'a user without a password', hint })
  }
  if (sentinel?.username !== undefined && sentinel.password === undefined) {
    problems.push({ pointer: '/sentinel/username', message: 'a user without a password', hint })
  }
  if (cluster && db) {
    problems.push({ pointer: '/db', message: 'a cluster has database 0 alone', hint: 'leave "db" out' })
  }
  return problems
}

function tls({ url, sentinel, tls }: RedisOptions): Problem[] {
  const problems: Problem[] = []
  if (tls && url?.startsWith('redis://')) {
    problems.push({ pointer: '/tls', message: 'the URL says no TLS', hint: 'write it as rediss://…' })
  }
  if (sentinel?.tls && !tls) {
    const hint = 'add "tls": {}, or the files it needs'
    problems.push({ pointer: '/sentinel/tls', message: 'TLS to the sentinels but not to the servers', hint })
  }
  if (tls && (tls.cert === undefined) !== (tls.key === undefined)) {
    problems.push({ pointer: '/tls', message: '"cert" and "key" go together', hint: 'give both or none' })
  }
  return problems
}
