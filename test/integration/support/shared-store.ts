/** The memory store, one for all relays of the process, as relays of a deployment share a Redis. */

import { definePlugin, RecoveryStore, Type } from '../../../core/index.ts'
import { MemoryStore } from '../../../plugins/memory-recovery/store.ts'

const recovery = new MemoryStore(1000, () => performance.now())

export default definePlugin({
  name: 'shared-store',
  api: 1,
  options: Type.Object({}),
  provides: { recovery: RecoveryStore },
  setup: () => ({ recovery }),
})
