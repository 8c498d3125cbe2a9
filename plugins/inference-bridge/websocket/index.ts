/** The bridge to a WebSocket backend, as a plugin. */

import { definePlugin, InferenceBridge } from '../../../core/index.ts'
import { WebSocketBridge } from './bridge.ts'
import { check, Options } from './options.ts'

export default definePlugin({
  name: 'websocket',
  api: 1,
  options: Options,
  provides: { bridge: InferenceBridge },
  check,
  setup: (options, _services, context) => ({ bridge: new WebSocketBridge(options, context) }),
})
