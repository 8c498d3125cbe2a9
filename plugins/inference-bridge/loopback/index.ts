/** The bridge without a backend, as a plugin. */

import { definePlugin, InferenceBridge, Type } from '../../../core/index.ts'
import { loopback } from './bridge.ts'

/** There is nothing to set. */
export const Options = Type.Object({}, { additionalProperties: false })

export default definePlugin({
  name: 'loopback',
  api: 1,
  options: Options,
  provides: { bridge: InferenceBridge },
  setup: () => ({ bridge: loopback }),
})
