/** The engine on node:dgram. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dgramEngine } from '../../../../core/udp/dgram-engine.ts'
import { listen, send, udpPortContract, when } from './udp-port-contract.ts'

udpPortContract(dgramEngine)

test('more sends at once than there are slots are counted, and the slots come back', async (t) => {
  const a = await listen(dgramEngine, t, '127.0.0.1:0')
  const b = await listen(dgramEngine, t, '127.0.0.1:0')
  for (let i = 0; i < 1500; i++) send(a.port, 'x', b.port.local)
  assert.equal(a.port.counters.sendErrors, 1500 - 1024)
  await when(() => a.port.counters.sent === 1024)
  send(a.port, 'later', b.port.local)
  await when(() => a.port.counters.sent === 1025)
  assert.equal(a.port.counters.sendErrors, 1500 - 1024)
})
