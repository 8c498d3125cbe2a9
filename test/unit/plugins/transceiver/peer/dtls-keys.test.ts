import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveRecordKeys } from '../../../../../plugins/transceiver/peer/dtls-keys.ts'

test('both roles get the same keys the other way round', () => {
  const secrets = {
    master: Buffer.alloc(48, 1),
    clientRandom: Buffer.alloc(32, 2),
    serverRandom: Buffer.alloc(32, 3),
  }
  const client = deriveRecordKeys(secrets, 'client')
  const server = deriveRecordKeys(secrets, 'server')
  assert.deepEqual(client.localKey, server.remoteKey)
  assert.deepEqual(client.remoteKey, server.localKey)
  assert.equal(client.localSalt, server.remoteSalt)
  assert.notDeepEqual(client.localKey, client.remoteKey)
  assert.notEqual(client.localSalt, client.remoteSalt)
  assert.equal(client.localKey.length, 16)
})
