import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AllowedRoutes } from '../../../../../plugins/relay/pure/allowed-routes.ts'
import { at } from '../simulated-relay.ts'

function allowed(...cidrs: string[]): AllowedRoutes {
  return new AllowedRoutes({
    cluster: 1,
    cidrs,
    ports: { first: 3479, last: 3480 },
    own: [at('10.0.0.4:3480')],
  })
}

test('every IPv6 address is not every IPv4 address, nor the other way round', () => {
  assert.equal(allowed('::/0').refusal(1, at('10.0.0.1:3479')), 'route_not_allowed')
  assert.equal(allowed('::/0').refusal(1, at('[2001:db8::1]:3479')), undefined)
  assert.equal(allowed('0.0.0.0/0').refusal(1, at('[2001:db8::1]:3479')), 'route_not_allowed')
  assert.equal(allowed('0.0.0.0/0').refusal(1, at('10.0.0.1:3479')), undefined)
})

test('a mapped range is the IPv4 one', () => {
  assert.equal(allowed('::ffff:10.0.0.0/104').refusal(1, at('10.9.9.9:3479')), undefined)
  assert.equal(allowed('::ffff:10.0.0.0/104').refusal(1, at('11.0.0.1:3479')), 'route_not_allowed')
})

test('nowhere means nowhere: unspecified, multicast and broadcast are no routes whatever is allowed', () => {
  const all = allowed('0.0.0.0/0', '::/0')
  for (const address of [
    '0.0.0.0:3479',
    '224.0.0.1:3479',
    '255.255.255.255:3479',
    '[::]:3479',
    '[ff02::1]:3479',
  ]) {
    assert.equal(all.refusal(1, at(address)), 'route_not_allowed', address)
  }
})

test('the bounds of the ports are inside, our own address and foreign clusters are not', () => {
  const all = allowed('10.0.0.0/8')
  const of = (text: string) => all.refusal(1, at(text))
  assert.deepEqual(
    [of('10.0.0.1:3478'), of('10.0.0.1:3479'), of('10.0.0.1:3480'), of('10.0.0.1:3481')],
    ['route_not_allowed', undefined, undefined, 'route_not_allowed'],
  )
  assert.equal(of('10.0.0.4:3480'), 'own_address')
  assert.equal(all.refusal(2, at('10.0.0.1:3479')), 'foreign_cluster')
})
