/** The plain codec keeps the contract, in a form that can be read, and starts only for those who want it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginContext } from '../../../../../core/testing/plugin-context.ts'
import { checkRoutingCodec } from '../../../../../core/testing/routing-codec.ts'
import { parseAddress } from '../../../../../core/wire/address.ts'
import { plainCodec } from '../../../../../plugins/routing-codec/plain/codec.ts'
import plugin from '../../../../../plugins/routing-codec/plain/index.ts'

checkRoutingCodec('plain', () => plainCodec, { authenticated: false })

const SESSION = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)

const decode = (text: string) => plainCodec.decode(Buffer.from(text), 0, text.length, 'ufrag')

test('people can read it', () => {
  const text = (address: string) =>
    plainCodec.encode({ cluster: 1, address: parseAddress(address)!, session: SESSION }, 'ufrag')
  assert.equal(text('127.0.0.1:3479'), 'plainu1a127o0o0o1p3479s0102030405060708')
  assert.equal(text('[fd00::5]:3479'), 'plainu1afd000000000000000000000000000005p3479s0102030405060708')
})

test('a route has one spelling', () => {
  assert.ok(decode('plainu1a127o0o0o1p3479s0102030405060708'))
  for (const other of [
    'plainu01a127o0o0o1p3479s0102030405060708',
    'plainu1a127o00o0o1p3479s0102030405060708',
    'plainu1a127o0o0o1p03479s0102030405060708',
    'plainu1a00000000000000000000ffff7f000001p3479s0102030405060708',
    'plainu65536a127o0o0o1p3479s0102030405060708',
    'plainu1a127o0o0o256p3479s0102030405060708',
    'plainu1a127o0o0o1p65536s0102030405060708',
    'plainc1a127o0o0o1p3479s0102030405060708',
    'plainu1a127o0o0o1p3479s010203040506070',
  ]) {
    assert.equal(decode(other), undefined, other)
  }
})

test('it starts only for those who say that they want it', async () => {
  assert.match(plugin.check?.({ insecure: false })[0]?.message ?? '', /protects nothing/)
  assert.deepEqual(plugin.check?.({ insecure: true }), [])
  const { context, logs, close } = pluginContext()
  await plugin.setup({ insecure: true }, {}, context)
  await close()
  assert.equal(logs.filter(({ level }) => level === 40).length, 1)
})
