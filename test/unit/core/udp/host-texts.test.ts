/** Address words ⇄ text: right for every address, however the tables are filled. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HostTexts } from '../../../../core/udp/host-texts.ts'
import { Address, toAddress } from '../../../../core/wire/address.ts'

test('text is right for more addresses than the table holds, twice over', () => {
  const plain = new HostTexts(false)
  const mapped = new HostTexts(true)
  const reused = new Address()
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 5000; i++) {
      reused.set(0, 0, 0xffff, 0x0a000000 + i * 7919, 5)
      assert.equal(plain.text(reused), reused.clone().host)
      assert.equal(mapped.text(reused), `::ffff:${reused.clone().host}`)
      reused.set(0x20010db8, i, 0, 1, 5)
      assert.equal(mapped.text(reused), reused.clone().host)
    }
  }
})

test('the same address gives the same string', () => {
  const hosts = new HostTexts(true)
  const a = toAddress('192.0.2.1', 1)!
  assert.equal(hosts.text(a), hosts.text(toAddress('192.0.2.1', 2)!))
})

test('parse gives the port it was told, canonical, and refuses what is no ip', () => {
  const hosts = new HostTexts(true)
  const into = new Address()
  for (const port of [1, 2]) {
    assert.ok(hosts.parse('::ffff:192.0.2.9', port, into))
    assert.equal(String(into), `192.0.2.9:${port}`)
    assert.ok(hosts.parse('192.0.2.9', port, into))
    assert.equal(String(into), `192.0.2.9:${port}`)
    assert.ok(hosts.parse('fe80::1%eth0', port, into))
    assert.equal(String(into), `[fe80::1]:${port}`)
  }
  assert.equal(hosts.parse('nowhere', 1, into), false)
  assert.equal(hosts.parse('no::where', 1, into), false)
})

test('parse is right for more sources than it keeps', () => {
  const hosts = new HostTexts(true)
  const into = new Address()
  for (let i = 1; i < 3000; i++) {
    assert.ok(hosts.parse(`2001:db8::${i.toString(16)}`, i, into))
    assert.equal(String(into), `[2001:db8::${i.toString(16)}]:${i}`)
  }
})
