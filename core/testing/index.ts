/** The door for tests, here and in other people's plugins: `import { … } from 'earshot/testing'`. */

export { FakeClock } from './fake-clock.ts'
export type { Impairments } from './impairment.ts'
export type { Direction, LinkCounters, LossyLinkOptions, Tap } from './lossy-link.ts'
export { LossyLink } from './lossy-link.ts'
export type { Delivery, Flight } from './memory-udp.ts'
export { MemoryNetwork } from './memory-udp.ts'
export { Prng } from './prng.ts'
