/** The relay: forwards clients' datagrams to the transceivers that their ufrags name, and back. See README.md. */

import { randomInt } from 'node:crypto'
import { definePlugin, Ingress, RecoveryStore, RoutingCodec } from '../../core/index.ts'
import { serveFlows } from './admin.ts'
import { drain } from './drain.ts'
import { observeRelay } from './metrics.ts'
import { checkOptions, Options } from './options.ts'
import { startRelay } from './relay.ts'

/** The plugin. */
export default definePlugin({
  name: 'relay',
  api: 1,
  options: Options,
  requires: { codec: RoutingCodec },
  optional: { recovery: RecoveryStore },
  provides: { ingress: Ingress },
  check: checkOptions,
  async setup(options, services, context) {
    const relay = await startRelay(options, services, context, randomInt(2 ** 48 - 1))
    observeRelay(context.meter, relay)
    serveFlows(context.admin, relay.state)
    context.onDrain((deadline) => drain(relay.state, context.log, deadline))
    context.onClose(() => relay.close())
    context.log.info(
      {
        listen: relay.sockets.publics.map(({ local }) => String(local)),
        advertise: relay.state.locals.map(String),
        upstream: relay.sockets.upstream.local.toString(),
      },
      'relay listens',
    )
    return { ingress: { addresses: relay.ingress } }
  },
})
