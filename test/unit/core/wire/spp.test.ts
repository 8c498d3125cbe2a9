import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Address, parseAddress } from '../../../../core/wire/address.ts'
import { readSpp, SPP_LENGTH, writeSpp } from '../../../../core/wire/spp.ts'

const client = parseAddress('198.51.100.7:40000')!
const proxy = parseAddress('[2001:db8::10]:3478')!

test('the header has the layout of the Simple Proxy Protocol', () => {
  const bytes = Buffer.alloc(SPP_LENGTH)
  writeSpp(bytes, 0, client, proxy)
  assert.equal(
    bytes.toString('hex'),
    '56ec' + '00000000000000000000ffffc6336407' + '20010db8000000000000000000000010' + '9c40' + '0d96',
  )
})

test('what was written is read, at any offset, and nothing around it is touched', () => {
  const bytes = Buffer.alloc(SPP_LENGTH + 20, 0xaa)
  writeSpp(bytes, 7, client, proxy)
  const readClient = new Address()
  const readProxy = new Address()
  assert.ok(readSpp(bytes, 7, bytes.length, readClient, readProxy))
  assert.deepEqual([String(readClient), String(readProxy)], [String(client), String(proxy)])
  assert.ok(readClient.equals(client))
  assert.deepEqual([bytes[6], bytes[7 + SPP_LENGTH]], [0xaa, 0xaa])
})

test('a header without payload is one', () => {
  const bytes = Buffer.alloc(SPP_LENGTH)
  writeSpp(bytes, 0, client, proxy)
  assert.ok(readSpp(bytes, 0, SPP_LENGTH, new Address(), new Address()))
})

test('a short header and a wrong magic number are none, and change no address', () => {
  const bytes = Buffer.alloc(SPP_LENGTH)
  writeSpp(bytes, 0, client, proxy)
  const into = proxy.clone()
  for (let end = 0; end < SPP_LENGTH; end++) assert.equal(readSpp(bytes, 0, end, into, into), false)
  for (const at of [0, 1]) {
    const wrong = Buffer.from(bytes)
    wrong[at]! ^= 1
    assert.equal(readSpp(wrong, 0, wrong.length, into, into), false)
  }
  assert.ok(into.equals(proxy))
})
