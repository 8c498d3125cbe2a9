/** What a relay says once it listens. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RelayPluginOptions } from '../../../../plugins/relay/options.ts'
import { outOfReach } from '../../../../plugins/relay/start-notes.ts'
import { at } from './simulated-relay.ts'

const LOOPBACK: RelayPluginOptions = {
  listen: ['0.0.0.0:3478'],
  upstream: '127.0.0.1:0',
  allow: { cidrs: ['127.0.0.0/8'], ports: '3479' },
  framing: 'spp',
  workers: 'auto',
  pin: true,
  segments: false,
  coalesceMicroseconds: 0,
  maxFlows: 65536,
}
const MACHINE = [at('10.0.0.4:0'), at('[fd00::4]:0')]

const told = (options: Partial<RelayPluginOptions>) =>
  outOfReach({ ...LOOPBACK, ...options }, MACHINE).map(({ option, beyond }) => [option, ...beyond])

const allow = (...cidrs: string[]) => ({ allow: { cidrs, ports: '3479' } })

test('a socket on loopback is told of transceivers that it cannot reach', () => {
  assert.deepEqual(told(allow('127.0.0.0/8', '10.0.0.0/8', 'fd00::/8')), [
    ['upstream', '10.0.0.0/8', 'fd00::/8'],
  ])
  assert.deepEqual(told({ ...allow('10.0.0.0/8'), upstream: '10.0.0.4:3480' }), [])
  assert.deepEqual(told({ ...allow('10.0.0.0/8'), upstream: '0.0.0.0:0' }), [])
})

test('what is on this machine is within its reach', () => {
  assert.deepEqual(told({}), [])
  assert.deepEqual(told(allow('10.0.0.4/32', '10.0.0.4', 'fd00::4', '::1', '0.0.0.0/0', '::/0')), [])
  assert.deepEqual(told(allow('10.0.0.5')), [['upstream', '10.0.0.5']])
})

test('relays of other clusters, and a server behind nat', () => {
  const clusters = { 1: '10.0.0.4:3490', 2: '10.2.0.4:3490', 3: 'relay.three.internal:3490' }
  assert.deepEqual(told({ clusters }), [['upstream', '10.2.0.4:3490']])
  assert.deepEqual(told({ clusters, spread: '10.0.0.4:3500' }), [])
  assert.deepEqual(told({ clusters, spread: '127.0.0.1:3500', upstream: '10.0.0.4:0' }), [
    ['spread', '10.2.0.4:3490'],
  ])
  assert.deepEqual(told({ framing: 'nat', defaultUpstream: '10.0.0.9:5000' }), [
    ['upstream', '10.0.0.9:5000'],
  ])
})
