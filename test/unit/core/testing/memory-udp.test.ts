/** The memory network keeps the UdpPort contract, and delivers when it was told to. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Datagram, HEAD_ROOM, MAX_DATAGRAM } from '../../../../core/contracts/udp-port.ts'
import { EdgeError } from '../../../../core/errors.ts'
import { MemoryNetwork } from '../../../../core/testing/memory-udp.ts'
import { type Address, parseAddress } from '../../../../core/wire/address.ts'

const at = (text: string): Address => parseAddress(text)!
const text = (d: Datagram): string => d.bytes.toString('latin1', d.start, d.end)

async function listen(network: MemoryNetwork, where: string) {
  const got: string[] = []
  const port = await network.engine.open({
    address: at(where),
    onDatagram: (d) => got.push(`${text(d)} from ${d.source}`),
  })
  return { port, got }
}

test('explicit: nothing arrives before deliver; answers within it do', async () => {
  const network = new MemoryNetwork('explicit')
  const a = await listen(network, '192.0.2.1:1000')
  const echo = await network.engine.open({
    address: at('198.51.100.7:2000'),
    onDatagram: (d) => echo.send(d.bytes, d.start, d.end, d.source),
  })
  const bytes = Buffer.from('hello')
  a.port.send(bytes, 0, 5, echo.local)
  bytes.fill(0)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(network.inFlight.length, 1)
  assert.equal(network.deliver(1), 1)
  assert.deepEqual(a.got, [])
  assert.equal(network.deliver(), 1)
  assert.deepEqual(a.got, ['hello from 198.51.100.7:2000'])
  assert.equal(network.deliver(), 0)
})

test('microtask: arrives by itself, not within send', async () => {
  const network = new MemoryNetwork()
  const a = await listen(network, '192.0.2.1:1000')
  a.port.send(Buffer.from('self'), 0, 4, a.port.local)
  assert.deepEqual(a.got, [])
  await null
  assert.deepEqual(a.got, ['self from 192.0.2.1:1000'])
})

test('ports for all addresses hear what no specific port takes', async () => {
  const network = new MemoryNetwork('explicit')
  const four = await listen(network, '0.0.0.0:5000')
  const six = await listen(network, '[::]:6000')
  const one = await listen(network, '10.0.0.1:5000')
  const from = at('203.0.113.5:99')
  network.inject(Buffer.from('a'), from, at('10.0.0.1:5000'))
  network.inject(Buffer.from('b'), from, at('10.0.0.2:5000'))
  network.inject(Buffer.from('c'), from, at('10.0.0.2:6000'))
  network.inject(Buffer.from('d'), from, at('10.0.0.2:7000'))
  network.deliver()
  assert.deepEqual(one.got, ['a from 203.0.113.5:99'])
  assert.deepEqual(four.got, ['b from 203.0.113.5:99'])
  assert.deepEqual(six.got, ['c from 203.0.113.5:99'])
  assert.equal(network.unheard, 1)
})

test('port 0 takes a free one; a taken one is refused; closing frees it', async () => {
  const network = new MemoryNetwork('explicit')
  const a = await listen(network, '192.0.2.1:0')
  const b = await listen(network, '192.0.2.1:0')
  assert.notEqual(a.port.local.port, b.port.local.port)
  await assert.rejects(
    network.engine.open({ address: a.port.local, onDatagram() {} }),
    (error) => error instanceof EdgeError && error.code === 'address_in_use',
  )
  await a.port.close()
  await a.port.close()
  a.port.send(Buffer.from('x'), 0, 1, b.port.local)
  assert.equal(a.port.counters.sendErrors, 1)
  await network.engine.open({ address: a.port.local, onDatagram() {} })
  await a.port.close()
  network.inject(Buffer.from('x'), b.port.local, a.port.local)
  network.deliver()
  assert.equal(network.unheard, 0)
})

test('a receiver has its room, may throw, and cannot keep the memory', async () => {
  const network = new MemoryNetwork('explicit')
  const kept: Datagram[] = []
  const port = await network.engine.open({
    address: at('192.0.2.1:7'),
    onDatagram: (d) => {
      d.bytes.fill(1, d.start - HEAD_ROOM, d.start)
      d.bytes.fill(1, d.end, d.end + 64)
      kept.push(d)
      throw new Error('a receiver at fault')
    },
  })
  network.inject(Buffer.alloc(MAX_DATAGRAM, 1), port.local, port.local)
  network.inject(Buffer.alloc(MAX_DATAGRAM + 1, 1), port.local, port.local)
  network.deliver()
  const { received, truncated, receiveErrors } = port.counters
  assert.deepEqual({ received, truncated, receiveErrors }, { received: 1, truncated: 1, receiveErrors: 1 })
  assert.equal(kept[0]!.bytes[kept[0]!.start], 0xdd)
})

test('the filter drops', async () => {
  const network = new MemoryNetwork('explicit')
  const a = await listen(network, '192.0.2.1:1000')
  network.filter = ({ bytes }) => bytes.length !== 4
  for (const word of ['keep it', 'drop']) {
    network.inject(Buffer.from(word), a.port.local, a.port.local)
  }
  network.deliver()
  assert.deepEqual(a.got, ['keep it from 192.0.2.1:1000'])
})
