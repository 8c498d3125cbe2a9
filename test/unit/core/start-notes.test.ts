import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Address, parseAddress } from '../../../core/index.ts'
import { isPrivate, urlsOf, warnOfExposure } from '../../../core/start-notes.ts'
import { recordedLog } from './host-fixture.ts'

const at = (text: string): Address => {
  const address = parseAddress(text)
  assert.ok(address, text)
  return address
}

interface Setting {
  http?: string
  admin?: string
  advertise?: string[]
  ingress?: string[]
}

function warnings({ http = '127.0.0.1:1', admin, advertise, ingress }: Setting): string[] {
  const { log, entries } = recordedLog()
  const node = { cluster: 1, advertise: advertise?.map(at), reachable: true }
  const services = ingress ? [{ codec: {} }, { ingress: { addresses: ingress.map(at) } }] : []
  warnOfExposure(log, node, at(http), admin === undefined ? undefined : at(admin), services)
  return entries.map(({ msg }) => String(msg).split(' ').slice(0, 3).join(' '))
}

const UNREACHABLE = ['callers from the']
const EXPOSED = ['the admin listener']

test('a public bind with private addresses in its answers is warned of, told or found', () => {
  const http = '0.0.0.0:8080'
  assert.deepEqual(warnings({ http, advertise: ['10.0.0.1:1', '[fd00::1]:1'] }), UNREACHABLE)
  assert.deepEqual(warnings({ http, ingress: ['192.168.1.1:3478'] }), UNREACHABLE)
  assert.deepEqual(warnings({ http, advertise: ['10.0.0.1:1', '203.0.113.7:1'] }), [])
  assert.deepEqual(warnings({ http, advertise: ['203.0.113.7:1'], ingress: ['10.0.0.1:1'] }), [])
  assert.deepEqual(warnings({ http }), [])
})

test('on loopback nobody else is expected', () => {
  assert.deepEqual(warnings({ advertise: ['10.0.0.1:1'] }), [])
})

test('a public admin listener is warned of', () => {
  assert.deepEqual(warnings({ admin: '0.0.0.0:9090' }), EXPOSED)
  assert.deepEqual(warnings({ admin: '[2001:db8::1]:9090' }), EXPOSED)
  assert.deepEqual(warnings({ admin: '127.0.0.1:9090' }), [])
  assert.deepEqual(warnings({ admin: '[::1]:9090' }), [])
})

test('private is what means nothing outside its own network', () => {
  const inside = ['10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.1.1', '172.31.255.255', '192.168.0.1']
  for (const host of [...inside, '[::1]', '[fc00::1]', '[fe80::1]'])
    assert.ok(isPrivate(at(`${host}:1`)), host)
  for (const host of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '[2001:db8::1]'])
    assert.ok(!isPrivate(at(`${host}:1`)), host)
})

test('URLs to open: localhost for loopback, the address itself, everything for a wildcard', () => {
  assert.deepEqual(urlsOf('http', at('127.0.0.1:8080')), ['http://localhost:8080/'])
  assert.deepEqual(urlsOf('https', at('203.0.113.7:443')), ['https://203.0.113.7:443/'])
  assert.deepEqual(urlsOf('http', at('[2001:db8::1]:80')), ['http://[2001:db8::1]:80/'])
  assert.equal(urlsOf('http', at('0.0.0.0:8080'))[0], 'http://localhost:8080/')
})
