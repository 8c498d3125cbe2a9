/** The engine on recvmmsg and sendmmsg. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchedEngine } from '../../../../core/udp/batched-engine.ts'
import { listen, send, udpPortContract, when } from './udp-port-contract.ts'

const engine = batchedEngine()

if (engine === undefined) test('the batched engine', { skip: 'needs 64-bit Linux and koffi' }, () => {})
else {
  udpPortContract(engine)

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
