/** Configs for edges in tests: every port left to the system, and what differs named. */

/** A config file's content, as `startEdge` takes it. */
export type Config = Readonly<Record<string, unknown>>

/** What may differ from relay, transceiver and loopback bridge in one process. */
export interface ConfigChanges {
  readonly node?: Config
  readonly http?: Config
  readonly codec?: Config
  readonly relay?: Config
  readonly transceiver?: Config
  /** The bridge's plugin and options. */
  readonly bridge?: Config
}

const LOOPBACK = { use: './plugins/inference-bridge/loopback/index.ts' }

/** Relay and transceiver together. */
export function edgeConfig(changes: ConfigChanges = {}) {
  const { plugins, ...rest } = transceiverConfig(changes)
  return {
    ...rest,
    plugins: {
      ...plugins,
      recovery: { use: './plugins/memory-recovery/index.ts' },
      relay: {
        use: './plugins/relay/index.ts',
        options: {
          listen: ['127.0.0.1:0'],
          upstream: '127.0.0.1:0',
          allow: { cidrs: ['127.0.0.0/8'], ports: '1024-65535' },
          ...changes.relay,
        },
      },
    },
  }
}

/** A transceiver without a relay: `node.advertise` has to name one elsewhere. */
export function transceiverConfig(changes: ConfigChanges = {}) {
  return {
    node: { cluster: 1, advertise: 'auto', ...changes.node },
    http: { listen: '127.0.0.1:0', ...changes.http },
    admin: { listen: '127.0.0.1:0' },
    plugins: {
      codec: { use: './plugins/routing-codec/sealed/index.ts', options: { ...changes.codec } },
      bridge: changes.bridge ?? LOOPBACK,
      transceiver: {
        use: './plugins/transceiver/index.ts',
        options: { listen: '127.0.0.1:0', ...changes.transceiver },
      },
    },
  }
}
