/** The relay: forwards clients' datagrams to the transceivers that their ufrags name, and back. See README.md. */

import { randomInt } from 'node:crypto'
import { type Address, definePlugin, Ingress, RecoveryStore, RoutingCodec } from '../../core/index.ts'
import { serveFlows } from './admin.ts'
import { drain, lastWords, SilenceWatch } from './drain.ts'
import { observeRelay } from './metrics.ts'
import { checkOptions, Options } from './options.ts'
import { startRelay } from './relay.ts'
import { tellStart } from './start-notes.ts'

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
    serveFlows(context.admin, relay)
    const silence = new SilenceWatch(relay.workers)
    context.onDrain((deadline) => drain(silence, context.log, deadline))
    context.onClose(async () => {
      silence.close()
      await lastWords(silence)
      await relay.close()
    })
    tellStart(context.log, options, relay)
    const closesFirst = (transceiver: Address): void => silence.closesFirst(transceiver)
    return { ingress: { addresses: relay.ingress, closesFirst } }
  },
})
