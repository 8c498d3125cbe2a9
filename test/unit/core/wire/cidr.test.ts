import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toAddress } from '../../../../core/wire/address.ts'
import { inCidrs, parseCidr } from '../../../../core/wire/cidr.ts'

const contains = (range: string, ip: string): boolean => {
  const cidr = parseCidr(range)
  const address = toAddress(ip, 1)
  assert.ok(cidr && address, `${range} ${ip}`)
  return inCidrs([cidr], address)
}

test('an address is in a range when the masked bits agree', () => {
  assert.ok(contains('10.0.0.0/8', '10.255.1.2'))
  assert.ok(!contains('10.0.0.0/8', '11.0.0.0'))
  assert.ok(contains('192.168.1.128/25', '192.168.1.200'))
  assert.ok(!contains('192.168.1.128/25', '192.168.1.127'))
  assert.ok(contains('fd00::/8', 'fdab::1'))
  assert.ok(!contains('fd00::/8', 'fe80::1'))
  assert.ok(contains('::1', '::1'))
  assert.ok(!contains('::1/128', '::2'))
  assert.ok(contains('0.0.0.0/0', '8.8.8.8'))
})

test('an IPv4 range also holds the mapped form, and no IPv6 address', () => {
  assert.ok(contains('10.0.0.0/8', '::ffff:10.1.1.1'))
  assert.ok(!contains('0.0.0.0/0', 'fd00::1'))
})

test('an IPv6 range holds no IPv4 address, though that is kept as a mapped one', () => {
  for (const range of ['::/0', '::/64', '::ffff:0:0/95']) assert.ok(!contains(range, '10.1.1.1'), range)
  assert.ok(contains('::/0', 'fd00::1'))
  assert.ok(contains('::ffff:10.0.0.0/104', '10.1.1.1'), 'a mapped range is an IPv4 one')
})

test('host bits in the written network are ignored', () => {
  assert.ok(contains('10.1.2.3/8', '10.9.9.9'))
})

test('what is no range is undefined', () => {
  for (const text of ['', '10.0.0.0/33', 'fd00::/129', '10.0.0/8', 'x/8', '10.0.0.0/-1', '10.0.0.0/8/8'])
    assert.equal(parseCidr(text), undefined, text)
})
