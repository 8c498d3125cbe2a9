import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddress } from '../../../../core/wire/address.ts'
import { AllowedAddresses } from '../../../../core/wire/allowed-addresses.ts'

const allowed = new AllowedAddresses(['10.0.0.0/8', 'fd00::/8', '0.0.0.0/0 or so'], {
  first: 3479,
  last: 3490,
})

test('an ip inside one of the CIDRs, on a port of the range', () => {
  for (const text of ['10.1.2.3:3479', '10.255.0.1:3490', '[fd00::5]:3480']) {
    assert.equal(allowed.has(parseAddress(text)!), true, text)
  }
  for (const text of ['10.1.2.3:3478', '10.1.2.3:3491', '11.0.0.1:3479', '[fe80::5]:3480']) {
    assert.equal(allowed.has(parseAddress(text)!), false, text)
  }
})

test('the host of a connection, which comes from any port', () => {
  assert.equal(allowed.hasHost(parseAddress('10.1.2.3:50000')!), true)
  assert.equal(allowed.hasHost(parseAddress('11.1.2.3:3479')!), false)
})

test('never the unspecified address, whatever the CIDRs', () => {
  const all = new AllowedAddresses(['0.0.0.0/0', '::/0'], { first: 1, last: 65_535 })
  for (const text of ['0.0.0.0:3479', '[::]:3479'])
    assert.equal(all.hasHost(parseAddress(text)!), false, text)
})
