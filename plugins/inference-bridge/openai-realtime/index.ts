/** The bridge to OpenAI Realtime and its family, as a plugin. */

import { definePlugin, InferenceBridge } from '../../../core/index.ts'
import { RealtimeBridge } from './bridge.ts'
import { check, Options } from './options.ts'

export default definePlugin({
  name: 'openai-realtime',
  api: 1,
  options: Options,
  provides: { bridge: InferenceBridge },
  check,
  setup: (options, _services, context) => ({ bridge: new RealtimeBridge(options, context) }),
})
