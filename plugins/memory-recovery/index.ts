/** The recovery store in memory, as a plugin. */

import { definePlugin, RecoveryStore, Type } from '../../core/index.ts'
import { MemoryStore } from './store.ts'

const SWEEP_MS = 1000
const SWEEP_LIMIT = 10_000

/** The operator's options. */
export const Options = Type.Object(
  {
    maxEntries: Type.Integer({
      default: 100_000,
      minimum: 1,
      maximum: 1_000_000,
      description: 'How many clients are remembered; the oldest goes when there are more.',
    }),
  },
  { additionalProperties: false },
)

export default definePlugin({
  name: 'memory-recovery',
  api: 1,
  options: Options,
  provides: { recovery: RecoveryStore },
  setup({ maxEntries }, _services, { meter, onClose }) {
    // A clock that nobody sets back: with the time of day an entry could outlive its 30 s.
    const recovery = new MemoryStore(maxEntries, () => performance.now())
    const timer = setInterval(() => recovery.sweep(SWEEP_LIMIT), SWEEP_MS).unref()
    onClose(() => clearInterval(timer))
    meter
      .createObservableGauge('earshot.memory_recovery.entries', {
        description: 'Clients held just now.',
        unit: '{client}',
      })
      .addCallback((result) => result.observe(recovery.size))
    return { recovery }
  },
})
