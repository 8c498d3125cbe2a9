import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveRecordKeys, pseudorandom } from '../../../../../plugins/transceiver/peer/dtls-keys.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

test('the pseudorandom function gives the known answer for SHA-256', () => {
  const out = pseudorandom(
    hex('9bbe436ba940f017b17652849a71db35'),
    'test label',
    hex('a0ba9f936cda311827a6f796ffd5198c'),
    100,
  )
  assert.deepEqual(
    out,
    hex(`e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af
      0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff70187347b66`),
  )
})

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
