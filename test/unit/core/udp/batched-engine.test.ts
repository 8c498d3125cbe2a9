/** The engine on recvmmsg and sendmmsg. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { libc } from '../../../../core/ffi/libc.ts'
import { batchedEngine } from '../../../../core/udp/batched-engine.ts'
import { parseAddress } from '../../../../core/wire/address.ts'
import { listen, send, udpPortContract, when } from './udp-port-contract.ts'

const engine = batchedEngine()

if (engine === undefined) test('the batched engine', { skip: 'needs 64-bit Linux and koffi' }, () => {})
else {
  udpPortContract(engine)

  test('a socket whose port cannot be made is closed, and its operator told why', async (t) => {
    const calls = libc()!
    const opened: number[] = []
    const closed: number[] = []
    const watched = batchedEngine({
      ...calls,
      socket(...args) {
        opened.push(calls.socket(...args))
        return opened.at(-1)!
      },
      close(fd) {
        closed.push(fd)
        return calls.close(fd)
      },
    })!
    const { allocUnsafeSlow } = Buffer
    t.mock.method(Buffer, 'allocUnsafeSlow', (size: number) => {
      // The batches' memory, which the port wants once its socket is open.
      if (size > 65_536) throw new RangeError('no memory')
      return allocUnsafeSlow(size)
    })
    await assert.rejects(watched.open({ address: parseAddress('127.0.0.1:0')!, onDatagram() {} }), {
      code: 'address_unavailable',
      message: 'UDP 127.0.0.1:0 cannot be opened: no memory',
    })
    assert.equal(opened.length, 1)
    assert.deepEqual(closed, opened)
  })

  test('more sends in one turn than a batch holds all leave', async (t) => {
    const a = await listen(engine, t, '127.0.0.1:0')
    const b = await listen(engine, t, '127.0.0.1:0')
    for (let i = 0; i < 1000; i++) send(a.port, `${i}`, b.port.local)
    await b.until(1000)
    assert.deepEqual(
      b.got.map(({ text }) => Number(text)),
      Array.from({ length: 1000 }, (_, i) => i),
    )
    assert.equal(a.port.counters.sent, 1000)
  })

  test('a batch ends once for many datagrams', async (t) => {
    let ends = 0
    const b = await listen(engine, t, '127.0.0.1:0', { onBatchEnd: () => ends++ })
    const a = await listen(engine, t, '127.0.0.1:0')
    for (let i = 0; i < 50; i++) send(a.port, 'x', b.port.local)
    await b.until(50)
    await when(() => ends > 0)
    assert.ok(ends < 50, `${ends} batches for 50 datagrams`)
  })

  test('one datagram that the kernel refuses costs the others of its batch nothing', async (t) => {
    const a = await listen(engine, t, '127.0.0.1:0')
    const b = await listen(engine, t, '127.0.0.1:0')
    send(a.port, 'before', b.port.local)
    // No socket may send to a broadcast address unasked.
    send(
      a.port,
      'refused',
      (await listen(engine, t, '127.0.0.1:0')).port.local.clone().set(0, 0, 0xffff, -1, 9),
    )
    send(a.port, 'after', b.port.local)
    await b.until(2)
    assert.deepEqual(
      b.got.map(({ text }) => text),
      ['before', 'after'],
    )
    assert.equal(a.port.counters.sent, 2)
    assert.equal(a.port.counters.sendErrors, 1)
  })

  test('a receiver may close its port in the middle of a batch', async (t) => {
    let heard = 0
    const b = await listen(engine, t, '127.0.0.1:0', {
      onDatagram: () => {
        heard++
        void b.port.close()
      },
    })
    const a = await listen(engine, t, '127.0.0.1:0')
    for (let i = 0; i < 10; i++) send(a.port, 'x', b.port.local)
    await when(() => heard > 0)
    await b.port.close()
    assert.equal(heard, 1)
  })
}
