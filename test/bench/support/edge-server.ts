/** An edge as a server under measurement: `direct` (the transceiver alone) or `relay` (a relay in front of it). */

import { createLog } from '../../../core/log.ts'
import { startEdge } from '../../peers/edge.ts'
import { serveDriver } from './server-protocol.ts'

const withRelay = process.argv[2] === 'relay'
const logger = createLog({ level: 'info', destination: { write() {} } })
const edge = await startEdge({ config: config(), logger })
const socket = edge.bound.at(-1)
serveDriver(
  { origin: edge.origin, ...(withRelay ? {} : { via: String(socket) }) },
  { calls: async () => (await edge.sessions()).total, stop: () => edge.close() },
)

function config(): Record<string, unknown> {
  const relay = {
    use: './plugins/relay/index.ts',
    options: {
      listen: ['127.0.0.1:0'],
      upstream: '127.0.0.1:0',
      allow: { cidrs: ['127.0.0.0/8'], ports: '1024-65535' },
    },
  }
  return {
    node: { cluster: 1, advertise: withRelay ? 'auto' : ['127.0.0.1:3478'] },
    http: { listen: '127.0.0.1:0' },
    admin: { listen: '127.0.0.1:0' },
    plugins: {
      codec: { use: './plugins/routing-codec/sealed/index.ts' },
      ...(withRelay ? { recovery: { use: './plugins/memory-recovery/index.ts' }, relay } : {}),
      bridge: { use: './plugins/inference-bridge/loopback/index.ts' },
      transceiver: {
        use: './plugins/transceiver/index.ts',
        options: { listen: '127.0.0.1:0', direct: !withRelay, maxCalls: 10_000 },
      },
    },
  }
}
