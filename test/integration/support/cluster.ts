/** Transceivers of one cluster: edges that share their routing keys, their control keys and their callers. */

import { SealedCodec } from '../../../plugins/routing-codec/sealed/codec.ts'
import { type Config, type ConfigChanges, edgeConfig } from './configs.ts'

/** Their routing key. */
export const ROUTING_KEY = { id: 7, key: '000102030405060708090a0b0c0d0e0f' }

/** Their control key. */
export const CONTROL_KEY = 'a secret that the whole cluster shares'

/** API keys by who holds them. */
export const KEYS = { alice: 'alice-has-a-long-key', bob: 'bob-has-another-one' } as const

/** A codec that reads and makes their call ids. */
export const codec = new SealedCodec([ROUTING_KEY])

/** A member's config, where every port is left to the system; `control: false` leaves the control port out. */
export function memberConfig(changes: ConfigChanges & { control?: Config | false } = {}): Config {
  const { control, ...others } = changes
  const allow = { cidrs: ['127.0.0.0/8'], ports: '1024-65535' }
  return edgeConfig({
    ...others,
    http: { keys: KEYS },
    codec: { keys: [ROUTING_KEY] },
    transceiver: control === false ? {} : { control: { keys: [CONTROL_KEY], allow, ...control } },
  })
}
