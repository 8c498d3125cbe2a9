import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientAttributes } from '../../../core/client-attributes.ts'
import { toAddress } from '../../../core/wire/address.ts'

test('a client and the address that it sends to are named by the conventions', () => {
  for (const [client, local, type] of [
    ['198.51.100.7', '203.0.113.10', 'ipv4'],
    ['2001:db8::7', '2001:db8::10', 'ipv6'],
  ] as const) {
    assert.deepEqual(clientAttributes(toAddress(client, 40_000)!, toAddress(local, 3478)!), {
      'client.address': client,
      'client.port': 40_000,
      'network.transport': 'udp',
      'network.type': type,
      'network.local.address': local,
      'network.local.port': 3478,
    })
  }
})
