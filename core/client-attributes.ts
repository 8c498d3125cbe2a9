/** How a span names a client and the address of ours that it sends to, by OpenTelemetry's semantic conventions. */

import type { Attributes } from '@opentelemetry/api'
import type { Address } from './wire/address.ts'

/** The attributes of a client over UDP. */
export function clientAttributes(client: Address, local: Address): Attributes {
  return {
    'client.address': client.host,
    'client.port': client.port,
    'network.transport': 'udp',
    'network.type': client.isIPv4 ? 'ipv4' : 'ipv6',
    'network.local.address': local.host,
    'network.local.port': local.port,
  }
}
