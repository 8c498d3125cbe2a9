/**
 * A relay as a process of its own, which counts how often its store is asked. Its way is the first argument, its Redis
 * the second; without one it has a store that knows nobody.
 */

import type { RecoveryStore } from '../../core/index.ts'
import { pluginContext } from '../../core/testing/plugin-context.ts'
import { startRelay } from '../../plugins/relay/relay.ts'
import { SealedCodec } from '../../plugins/routing-codec/sealed/codec.ts'
import { LOAD_KEY } from '../bench/relay/load-protocol.ts'
import { bound, total, WAYS } from '../integration/support/relay-ways.ts'
import { startStore } from '../unit/plugins/redis-recovery/rig.ts'

/** What it tells when it is asked, and once at its start. */
export interface RelayFigures {
  readonly port: number
  readonly workers: number
  readonly residentBytes: number
  /** Look-ups so far. */
  readonly asked: number
  readonly dropped: number
  readonly decodes: number
  readonly flows: number
}

const NOBODY: RecoveryStore = { remember: () => {}, forget: () => {}, recall: async () => undefined }

const [wanted, redis] = process.argv.slice(2)
const store = redis === undefined ? NOBODY : (await startStore({ url: redis })).store
let asked = 0
const recovery: RecoveryStore = {
  remember: (...entry) => store.remember(...entry),
  forget: (...entry) => store.forget(...entry),
  recall: (...question) => {
    asked++
    return store.recall(...question)
  },
}
const way = WAYS.find(({ name }) => name === wanted)
if (way === undefined) throw new Error(`there is no way "${wanted}"`)
const relay = await startRelay(
  {
    ...way.options,
    listen: ['127.0.0.1:0'],
    upstream: '127.0.0.1:0',
    allow: { cidrs: ['127.0.0.1/32'], ports: '1-65535' },
    maxFlows: 65_536,
  },
  { codec: new SealedCodec([LOAD_KEY]), recovery },
  pluginContext({ udp: way.udp }).context,
  7,
)

function figures(): RelayFigures {
  const [dropped, decodes, flows] = total(relay, ({ counters, flows }) => [
    counters.drops.total,
    counters.decodes,
    flows.confirmed + flows.unconfirmed,
  ])
  return {
    port: bound(relay, 0).local.port,
    workers: relay.workers.length,
    residentBytes: process.memoryUsage.rss(),
    asked,
    dropped: dropped!,
    decodes: decodes!,
    flows: flows!,
  }
}

process.on('message', () => process.send?.(figures()))
process.on('disconnect', () => process.exit(0))
process.send?.(figures())
