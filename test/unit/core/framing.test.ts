import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { opensslProblem } from '../../../core/ffi/openssl.ts'
import { type Framing, framing, plainFraming, SPP_MAC_LENGTH } from '../../../core/framing.ts'
import { Prng } from '../../../core/testing/prng.ts'
import { Address, parseAddress } from '../../../core/wire/address.ts'
import { SPP_LENGTH } from '../../../core/wire/spp.ts'

const needs = { skip: opensslProblem()?.message ?? false }
const client = parseAddress('198.51.100.7:40000')!
const proxy = parseAddress('[2001:db8::10]:3478')!
const OLD = { id: 1, key: '11'.repeat(32) }
const NEW = { id: 2, key: '22'.repeat(32) }
const PAYLOAD = Buffer.from('what is carried')

function framed(by: Framing, payload = PAYLOAD): Buffer {
  const bytes = Buffer.alloc(64 + payload.length)
  payload.copy(bytes, 64)
  by.write(bytes, 64, bytes.length, client, proxy)
  return bytes.subarray(64 - by.length)
}

function read(by: Framing, bytes: Buffer): string {
  const a = new Address()
  const b = new Address()
  const fault = by.read(bytes, 0, bytes.length, a, b)
  return fault ?? `${a} ${b} ${bytes.subarray(by.length)}`
}

const WHOLE = `${client} ${proxy} ${PAYLOAD}`

test('without keys a frame is the header and what it carries', () => {
  assert.equal(framing(undefined, 'up'), plainFraming)
  const bytes = framed(plainFraming)
  assert.equal(bytes.length, SPP_LENGTH + PAYLOAD.length)
  assert.equal(read(plainFraming, bytes), WHOLE)
  assert.equal(read(plainFraming, bytes.subarray(0, 37)), 'bad_frame')
})

test('with keys it has the layout that is documented', needs, () => {
  const bytes = framed(framing([OLD], 'up'))
  const header = `56ed00000000000000000000ffffc633640720010db80000000000000000000000109c400d9601`
  assert.equal(bytes.subarray(0, 39).toString('hex'), header)
  const key = createHmac('sha256', Buffer.from(OLD.key, 'hex')).update('earshot spp-mac up').digest()
  const tag = createHmac('sha256', key).update(bytes.subarray(0, 39)).update(PAYLOAD).digest()
  assert.deepEqual(bytes.subarray(39, 47), tag.subarray(0, 8))
  assert.deepEqual(bytes.subarray(SPP_MAC_LENGTH), PAYLOAD)
})

test('1200 bytes of payload fit into IP packets of 1275 bytes, over IPv6 of 1295', () => {
  assert.equal(20 + 8 + SPP_MAC_LENGTH + 1200, 1275)
  assert.equal(40 + 8 + SPP_MAC_LENGTH + 1200, 1295)
  assert.equal(40 + 8 + SPP_LENGTH + 1200, 1286)
})

test('what one end writes the other reads, either way, empty payloads too', needs, () => {
  const relay = framing([OLD], 'up')
  const transceiver = framing([OLD], 'down')
  assert.equal(read(transceiver, framed(relay)), WHOLE)
  assert.equal(read(relay, framed(transceiver)), WHOLE)
  assert.equal(read(transceiver, framed(relay, Buffer.alloc(0))), `${client} ${proxy} `)
})

test('a frame is no answer to itself', needs, () => {
  const relay = framing([OLD], 'up')
  assert.equal(read(relay, framed(relay)), 'mac_wrong')
})

test('keys rotate: the new one is known first, then signs, then the old one goes', needs, () => {
  const steps = [[OLD], [OLD, NEW], [NEW, OLD], [NEW]].map((keys) => ({
    relay: framing(keys, 'up'),
    transceiver: framing(keys, 'down'),
  }))
  for (const [i, { relay }] of steps.entries()) {
    for (const near of [i - 1, i, i + 1]) {
      const other = steps[near]?.transceiver
      if (other === undefined) continue
      assert.equal(read(other, framed(relay)), WHOLE)
      assert.equal(read(relay, framed(other)), WHOLE)
    }
  }
  assert.equal(read(steps[3]!.transceiver, framed(steps[0]!.relay)), 'mac_key')
})

test('a frame without a tag, with another key of the same id, or cut short is not taken', needs, () => {
  const relay = framing([OLD], 'up')
  const transceiver = framing([OLD], 'down')
  assert.equal(read(transceiver, framed(plainFraming)), 'mac_missing')
  assert.equal(read(plainFraming, framed(relay)), 'bad_frame')
  assert.equal(read(transceiver, framed(framing([{ ...NEW, id: 1 }], 'up'))), 'mac_wrong')
  assert.equal(read(transceiver, PAYLOAD), 'bad_frame')
  const whole = framed(relay)
  for (let cut = 0; cut < whole.length; cut++) {
    assert.match(read(transceiver, whole.subarray(0, cut)), /^(bad_frame|mac_wrong)$/)
  }
})

test('no bit of a frame can be changed', needs, () => {
  const transceiver = framing([OLD], 'down')
  const whole = framed(framing([OLD], 'up'))
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const altered = Buffer.from(whole)
    altered[bit >> 3]! ^= 1 << (bit & 7)
    assert.notEqual(read(transceiver, altered), WHOLE)
    assert.match(read(transceiver, altered), /^(bad_frame|mac_missing|mac_key|mac_wrong)$/)
  }
})

test('50,000 datagrams of noise: none is read, none throws, none is changed', needs, () => {
  const random = new Prng(11)
  const transceiver = framing([OLD, NEW], 'down')
  for (let i = 0; i < 50_000; i++) {
    const bytes = Buffer.from(Array.from({ length: random.below(80) }, () => random.below(256)))
    if (random.chance(0.8)) bytes.set([0x56, 0xec + random.below(2)].slice(0, bytes.length))
    if (random.chance(0.5) && bytes.length > SPP_LENGTH) bytes[SPP_LENGTH] = 1 + random.below(2)
    const before = Buffer.from(bytes)
    assert.match(read(transceiver, bytes), /^(bad_frame|mac_missing|mac_key|mac_wrong)$/)
    assert.deepEqual(bytes, before)
  }
})
