import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import { Prng } from '../../../../core/testing/prng.ts'
import { Address, parseAddress, toAddress } from '../../../../core/wire/address.ts'

const printed = (text: string): string | undefined => parseAddress(text)?.toString()

test('text forms are canonical (RFC 5952)', () => {
  assert.equal(printed('127.0.0.1:80'), '127.0.0.1:80')
  assert.equal(printed('[::1]:80'), '[::1]:80')
  assert.equal(printed('[2001:0DB8:0:0:1:0:0:1]:1'), '[2001:db8::1:0:0:1]:1')
  assert.equal(printed('[2001:db8:0:1:1:1:1:1]:1'), '[2001:db8:0:1:1:1:1:1]:1')
  assert.equal(printed('[::]:0'), '[::]:0')
  assert.equal(printed('[fe80::1%eth0]:9'), '[fe80::1]:9')
})

test('a mapped IPv4 address is the IPv4 address', () => {
  assert.equal(printed('[::ffff:1.2.3.4]:5'), '1.2.3.4:5')
  assert.equal(printed('[::ffff:102:304]:5'), '1.2.3.4:5')
  const [a, b] = [toAddress('::ffff:1.2.3.4', 5), toAddress('1.2.3.4', 5)]
  assert.ok(a && b && a.equals(b))
  assert.equal(a.hash(7), b.hash(7))
})

test('what is no address is undefined', () => {
  const bad = [
    '',
    '1.2.3:4',
    '1.2.3.4',
    '1.2.3.4:65536',
    '1.2.3.256:1',
    '01.2.3.4:1',
    '1.2.3.4.5:1',
    '[::1:1',
    '[1::2::3]:1',
  ]
  for (const text of [
    ...bad,
    '[12345::]:1',
    '[1:2:3:4:5:6:7]:1',
    '[1:2:3:4:5:6:7:8:9]:1',
    'host:1',
    '[::1.2.3]:4',
    '[1.2.3.4::1]:1',
    '[1.2.3.4::]:1',
  ])
    assert.equal(parseAddress(text), undefined, text)
  assert.equal(toAddress('1.2.3.4', -1), undefined)
  assert.equal(toAddress('1.2.3.4', 1.5), undefined)
})

test('what is an ip is what the system says is one', () => {
  const random = new Prng(5)
  const pieces = ['0', '1', 'ff', 'abcd', '12345', ':', ':', '::', '.', '1.2.3.4', '256', 'g', '01']
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: 1 + random.below(10) }, () => random.pick(pieces)).join('')
    assert.equal(toAddress(text, 1) !== undefined, isIP(text) !== 0, text)
  }
})

test('bytes go out and come back', () => {
  const bytes = new Uint8Array(20)
  for (const text of ['[2001:db8::ff00:42:8329]:443', '255.254.253.252:65535']) {
    const address = parseAddress(text)
    assert.ok(address)
    address.write(bytes, 2)
    assert.ok(new Address().read(bytes, 2, address.port).equals(address))
  }
})

test('the text of a reused address follows its value', () => {
  const address = parseAddress('1.2.3.4:5')
  assert.ok(address)
  assert.equal(address.host, '1.2.3.4')
  const kept = address.clone()
  address.set(0, 0, 0xffff, 0x05060708, 9)
  assert.equal(address.toString(), '5.6.7.8:9')
  assert.equal(kept.toString(), '1.2.3.4:5')
})

test('loopback, unspecified and family are told apart', () => {
  const is = (ip: string): Address => toAddress(ip, 0) ?? assert.fail(ip)
  assert.ok(is('127.9.9.9').isLoopback && is('::1').isLoopback && !is('128.0.0.1').isLoopback)
  assert.ok(is('0.0.0.0').isUnspecified && is('::').isUnspecified && !is('::1').isUnspecified)
  assert.ok(is('1.2.3.4').isIPv4 && !is('::1').isIPv4)
})

test('addresses made to collide under one seed do not under another', () => {
  // Each port undoes what it adds to the ip: under a hash that mixes these two before the seed, all are one.
  const made = Array.from({ length: 4096 }, (_, port) => {
    return new Address().set(0, 0, 0xffff, Math.imul(port, 0x9e3779b1), port)
  })
  const buckets = new Set(made.map((address) => address.hash(0x5eed) & 0xfff))
  assert.ok(buckets.size > 2300, `${buckets.size} of 4096 buckets`)
})
