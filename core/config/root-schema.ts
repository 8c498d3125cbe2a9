/** The schema of edge.config.json outside the plugins' own options. */

import { type Static, Type } from 'typebox'

const Listen = (fallback: string) =>
  Type.String({
    default: fallback,
    description: 'ip:port to listen on, such as "127.0.0.1:8080" or "0.0.0.0:443"',
  })

const Node = Type.Object(
  {
    cluster: Type.Integer({
      minimum: 0,
      maximum: 65535,
      default: 1,
      description: 'the number of the cluster this process runs in',
    }),
    advertise: Type.Union([Type.Literal('auto'), Type.Array(Type.String(), { minItems: 1 })], {
      default: 'auto',
      description: 'the public ip:port pairs that answers carry, or "auto" for this machine\'s own',
    }),
    udp: Type.Enum(['auto', 'batched', 'dgram'], {
      default: 'auto',
      description:
        'how datagrams are read and sent: "batched" is Linux\' own fast way, "dgram" works everywhere',
    }),
  },
  { default: {} },
)

const Tls = Type.Union(
  [
    Type.Literal(false),
    Type.Literal('self-signed'),
    Type.Object({
      cert: Type.String({ description: 'a PEM file with the certificate chain' }),
      key: Type.String({ description: 'a PEM file with the private key' }),
    }),
  ],
  { default: false, description: 'false, "self-signed", or the files of a certificate and its key' },
)

const Http = Type.Object(
  {
    listen: Listen('127.0.0.1:8080'),
    tls: Tls,
    keys: Type.Record(Type.String(), Type.String({ minLength: 16, writeOnly: true }), {
      default: {},
      description: 'API keys: the name of who calls, and the secret they send as "Authorization: Bearer …"',
    }),
    origins: Type.Array(Type.String(), {
      default: ['http://localhost:*', 'http://127.0.0.1:*'],
      description: 'web origins that may read answers: "https://app.example", "http://localhost:*" or "*"',
    }),
    trustProxy: Type.Array(Type.String(), {
      default: [],
      description:
        'CIDRs or addresses of the proxies in front (an ingress, a load balancer) whose X-Forwarded-For is believed; default: nobody is',
    }),
    bodyLimit: Type.Integer({ minimum: 1024, default: 65536, description: 'largest request body, in bytes' }),
    maxConnections: Type.Integer({
      minimum: 1,
      default: 10_000,
      description:
        'most TCP connections at a time, and never more than half of the file descriptors that the process may have (ulimit -n)',
    }),
  },
  { default: {} },
)

const Telemetry = Type.Object(
  {
    otlp: Type.Optional(
      Type.String({ description: 'base URL of an OTLP/HTTP collector, such as "http://localhost:4318"' }),
    ),
    prometheus: Type.Boolean({ default: true, description: 'serve /metrics on the admin listener' }),
  },
  { default: {} },
)

const Log = Type.Object(
  {
    level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' }),
    pretty: Type.Optional(
      Type.Boolean({ description: 'lines for people, not JSON; default: when on a terminal' }),
    ),
  },
  { default: {} },
)

const Entry = Type.Object({
  use: Type.String({ minLength: 1, description: 'path of a plugin file (./…), or the name of a package' }),
  options: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    description: "the plugin's own options",
  }),
  bind: Type.Record(Type.String(), Type.String(), {
    default: {},
    description: 'which plugin gives a service, where two could: local service name to plugin id',
  }),
})

/** The whole file. */
export const RootConfig = Type.Object({
  $schema: Type.Optional(Type.String()),
  node: Node,
  http: Http,
  admin: Type.Union([Type.Literal(false), Type.Object({ listen: Listen('127.0.0.1:9090') })], {
    default: {},
    description: 'the listener for operators, or false for none',
  }),
  telemetry: Telemetry,
  log: Log,
  drainSeconds: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    default: 30,
    description: 'how long calls may go on after the process was told to stop',
  }),
  plugins: Type.Record(Type.String(), Entry, {
    description: 'what this process runs: an id of your choice for each plugin',
  }),
})

/** A checked file with its defaults filled in. */
export type RootConfig = Static<typeof RootConfig>
