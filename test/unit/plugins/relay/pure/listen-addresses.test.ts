import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expandListen, ingressAddresses } from '../../../../../plugins/relay/pure/listen-addresses.ts'
import { at } from '../simulated-relay.ts'

const MACHINE = ['127.0.0.1:0', '192.0.2.5:0', '[::1]:0', '[fe80::1]:0', '[2001:db8::5]:0'].map(at)

function expand(...listen: string[]): string[] {
  const entries = listen.map((text) => ({ bind: at(text), advertise: undefined }))
  return expandListen(entries, MACHINE).map(
    ({ address, isNamed }) => `${address}${isNamed ? '' : ' (expanded)'}`,
  )
}

test('an address that clients know by another keeps that one', () => {
  const entries = [
    { bind: at('10.1.2.3:3478'), advertise: at('203.0.113.10:443') },
    { bind: at('0.0.0.0:3478'), advertise: undefined },
  ]
  const expanded = expandListen(entries, [at('10.1.2.3:0'), at('127.0.0.1:0')])
  assert.deepEqual(
    expanded.map(({ address, advertise }) => [String(address), advertise && String(advertise)]),
    [
      ['10.1.2.3:3478', '203.0.113.10:443'],
      ['127.0.0.1:3478', undefined],
    ],
  )
})

test('0.0.0.0 stands for each IPv4 address, :: for each IPv6 one but link-local', () => {
  assert.deepEqual(expand('0.0.0.0:3478'), ['127.0.0.1:3478 (expanded)', '192.0.2.5:3478 (expanded)'])
  assert.deepEqual(expand('[::]:3478'), ['[::1]:3478 (expanded)', '[2001:db8::5]:3478 (expanded)'])
})

test('an address that is named as well comes once, and as a named one', () => {
  assert.deepEqual(expand('0.0.0.0:3478', '192.0.2.5:3478', '192.0.2.5:443'), [
    '192.0.2.5:3478',
    '192.0.2.5:443',
    '127.0.0.1:3478 (expanded)',
  ])
})

test('port 0 is another port each time', () => {
  assert.deepEqual(expand('127.0.0.1:0', '0.0.0.0:0'), [
    '127.0.0.1:0',
    '127.0.0.1:0 (expanded)',
    '192.0.2.5:0 (expanded)',
  ])
})

test('answers carry loopback first on this machine alone, and not at all once others can reach it', () => {
  const bound = ['192.0.2.5:3478', '127.0.0.1:3478', '[2001:db8::5]:3478'].map(at)
  assert.deepEqual(ingressAddresses(bound, false).map(String), [
    '127.0.0.1:3478',
    '192.0.2.5:3478',
    '[2001:db8::5]:3478',
  ])
  assert.deepEqual(ingressAddresses(bound, true).map(String), ['192.0.2.5:3478', '[2001:db8::5]:3478'])
  assert.deepEqual(ingressAddresses([at('127.0.0.1:3478')], true).map(String), ['127.0.0.1:3478'])
})

test('at most four, so that answers stay small', () => {
  const bound = Array.from({ length: 9 }, (_, i) => at(`192.0.2.${i + 1}:3478`))
  assert.equal(ingressAddresses(bound, true).length, 4)
})
