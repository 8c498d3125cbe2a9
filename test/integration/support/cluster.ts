/** Transceivers of one cluster: edges that share their routing keys, their control keys and their callers. */

import type { Address } from '../../../core/index.ts'
import { SealedCodec } from '../../../plugins/routing-codec/sealed/codec.ts'
import { parseCallId } from '../../../plugins/transceiver/signaling/call-id.ts'
import { type Config, type ConfigChanges, edgeConfig } from './configs.ts'

/** Their routing key. */
export const ROUTING_KEY = { id: 7, key: '000102030405060708090a0b0c0d0e0f' }

/** Their control key. */
export const CONTROL_KEY = 'a secret that the whole cluster shares'

/** API keys by who holds them. */
export const KEYS = { alice: 'alice-has-a-long-key', bob: 'bob-has-another-one' } as const

/** A codec that reads and makes their call ids. */
export const codec = new SealedCodec([ROUTING_KEY])

/** A member's config, where every port is left to the system. */
export function memberConfig({ control, ...changes }: ConfigChanges & { control?: Config } = {}): Config {
  const allow = { cidrs: ['127.0.0.0/8'], ports: '1024-65535' }
  return edgeConfig({
    ...changes,
    http: { keys: KEYS, ...changes.http },
    codec: { keys: [ROUTING_KEY], ...changes.codec },
    transceiver: { control: { keys: [CONTROL_KEY], allow, ...control }, ...changes.transceiver },
  })
}

/** Where a call's owner has its control port. */
export function ownerOf(url: string): Address {
  const parsed = parseCallId(codec, url.split('/').at(-1)!)
  if (!parsed) throw new Error(`${url} names no owner`)
  return parsed.route.address
}
