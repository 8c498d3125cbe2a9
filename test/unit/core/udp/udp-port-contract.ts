/** The UdpPort contract on real sockets of this machine: what every engine that opens them must keep. */

import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import {
  type Datagram,
  HEAD_ROOM,
  MAX_DATAGRAM,
  type UdpEngine,
  type UdpOptions,
  type UdpPort,
} from '../../../../core/contracts/udp-port.ts'
import { EdgeError } from '../../../../core/errors.ts'
import { type Address, parseAddress } from '../../../../core/wire/address.ts'

const hasIPv6 = Object.values(networkInterfaces()).some((list) => list?.some((i) => i.address === '::1'))
export const at = (text: string): Address => parseAddress(text)!

/** A port that keeps what it gets as text, and tells when `count` datagrams are there. */
export async function listen(
  engine: UdpEngine,
  t: { after(run: () => unknown): void },
  where: string,
  more: Partial<UdpOptions> = {},
) {
  const got: { text: string; source: Address }[] = []
  let wake = (): void => {}
  const port = await engine.open({
    address: at(where),
    onDatagram: (d) => {
      got.push({ text: d.bytes.toString('latin1', d.start, d.end), source: d.source.clone() })
      wake()
    },
    ...more,
  })
  t.after(() => port.close())
  const until = async (count: number): Promise<void> => {
    while (got.length < count) await new Promise<void>((resolve) => (wake = resolve))
  }
  return { port, got, until }
}

export const send = (port: UdpPort, text: string, to: Address): void => {
  const bytes = Buffer.from(`<<${text}>>`)
  port.send(bytes, 2, bytes.length - 2, to)
}

/** Waits for a condition that no event tells, turn by turn. */
export async function when(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

/** Registers the contract's tests for an engine. */
export function udpPortContract(engine: UdpEngine): void {
  test('a datagram goes there and back, with its true source', async (t) => {
    const a = await listen(engine, t, '127.0.0.1:0')
    const b = await listen(engine, t, '127.0.0.1:0')
    assert.notEqual(a.port.local.port, 0)
    assert.equal(a.port.local.host, '127.0.0.1')
    send(a.port, 'ping', b.port.local)
    await b.until(1)
    assert.equal(b.got[0]!.text, 'ping')
    assert.ok(b.got[0]!.source.equals(a.port.local))
    send(b.port, '', b.got[0]!.source)
    await a.until(1)
    assert.equal(a.got[0]!.text, '')
    await when(() => a.port.counters.sent === 1)
    assert.deepEqual(a.port.counters, { received: 1, sent: 1, truncated: 0, receiveErrors: 0, sendErrors: 0 })
  })

  test('the bytes are the caller’s again when send returns', async (t) => {
    const a = await listen(engine, t, '127.0.0.1:0')
    const b = await listen(engine, t, '127.0.0.1:0')
    const bytes = Buffer.alloc(8)
    for (let i = 0; i < 200; i++) {
      bytes.fill(0x41 + (i % 26))
      a.port.send(bytes, 0, 8, b.port.local)
      bytes.fill(0)
    }
    await b.until(200)
    for (const [i, { text }] of b.got.entries())
      assert.equal(text, String.fromCharCode(0x41 + (i % 26)).repeat(8))
  })

  test('the receiver may write in front of and behind a datagram, and the memory is reused', async (t) => {
    const seen: Datagram[] = []
    let wake = (): void => {}
    const b = await listen(engine, t, '127.0.0.1:0', {
      onDatagram: (d) => {
        assert.ok(d.start >= HEAD_ROOM)
        assert.ok(d.bytes.length - d.end >= 64)
        d.bytes.fill(0xee, d.start - HEAD_ROOM, d.start)
        d.bytes.fill(0xee, d.end, d.end + 64)
        seen.push(d)
        wake()
      },
    })
    const a = await listen(engine, t, '127.0.0.1:0')
    a.port.send(Buffer.alloc(MAX_DATAGRAM, 1), 0, MAX_DATAGRAM, b.port.local)
    send(a.port, 'second', b.port.local)
    while (seen.length < 2) await new Promise<void>((resolve) => (wake = resolve))
    assert.equal(b.port.counters.receiveErrors, 0)
    assert.equal(seen[1]!.bytes.toString('latin1', seen[1]!.start, seen[1]!.end), 'second')
    for (let i = 0; i < 200; i++) {
      send(a.port, 'more', b.port.local)
      while (seen.length < 3 + i) await new Promise<void>((resolve) => (wake = resolve))
    }
    const buffers = new Set(seen.map((d) => d.bytes))
    assert.ok(buffers.size <= 64, `${buffers.size} buffers for 202 datagrams`)
  })

  test('a datagram longer than MAX_DATAGRAM is counted and dropped', async (t) => {
    const b = await listen(engine, t, '127.0.0.1:0')
    const raw = createSocket('udp4')
    t.after(() => raw.close())
    raw.send(Buffer.alloc(MAX_DATAGRAM + 1), b.port.local.port, '127.0.0.1')
    raw.send('after', b.port.local.port, '127.0.0.1')
    await b.until(1)
    assert.equal(b.got[0]!.text, 'after')
    assert.equal(b.port.counters.truncated, 1)
    assert.equal(b.port.counters.received, 1)
  })

  test('IPv6: a specific address, and :: hears IPv4 as IPv4', {
    skip: !hasIPv6 && 'no ::1 here',
  }, async (t) => {
    const six = await listen(engine, t, '[::1]:0')
    const both = await listen(engine, t, '[::]:0')
    const four = await listen(engine, t, '127.0.0.1:0')
    const { port } = both.port.local
    send(six.port, 'six', at(`[::1]:${port}`))
    send(four.port, 'four', at(`127.0.0.1:${port}`))
    send(four.port, 'four again', at(`127.0.0.1:${port}`))
    await both.until(3)
    const from = (text: string): string => String(both.got.find((g) => g.text === text)?.source)
    assert.equal(from('six'), String(six.port.local))
    assert.equal(from('four'), String(four.port.local))
    assert.equal(from('four again'), String(four.port.local))
    send(both.port, 'back', four.port.local)
    await four.until(1)
    assert.equal(String(four.got[0]!.source), `127.0.0.1:${port}`)
    send(both.port, 'back', six.port.local)
    await six.until(1)
    assert.equal(String(six.got[0]!.source), `[::1]:${port}`)
  })

  test('an address in use says so, with the address and what to do', async (t) => {
    const a = await listen(engine, t, '127.0.0.1:0')
    await assert.rejects(engine.open({ address: a.port.local, onDatagram() {} }), (error) => {
      assert.ok(error instanceof EdgeError)
      assert.equal(error.code, 'address_in_use')
      assert.ok(error.message.includes(String(a.port.local)))
      assert.match(error.message, /choose another port/)
      return true
    })
  })

  test('an ip that this machine has not says so', async () => {
    await assert.rejects(engine.open({ address: at('192.0.2.77:5000'), onDatagram() {} }), (error) => {
      assert.ok(error instanceof EdgeError)
      assert.equal(error.code, 'address_unavailable')
      assert.match(error.message, /192\.0\.2\.77:5000/)
      assert.match(error.message, /ip of this machine/)
      return true
    })
  })

  test('a receiver that throws is counted, and hears the next datagram', async (t) => {
    let calls = 0
    let batches = 0
    let wake = (): void => {}
    const b = await listen(engine, t, '127.0.0.1:0', {
      onDatagram: () => {
        calls++
        throw new Error('a receiver at fault')
      },
      onBatchEnd: () => {
        batches++
        wake()
        throw new Error('here too')
      },
    })
    const a = await listen(engine, t, '127.0.0.1:0')
    send(a.port, 'one', b.port.local)
    while (batches < 1) await new Promise<void>((resolve) => (wake = resolve))
    send(a.port, 'two', b.port.local)
    while (batches < 2) await new Promise<void>((resolve) => (wake = resolve))
    assert.equal(calls, 2)
    await when(() => b.port.counters.receiveErrors === 4)
  })

  test('what cannot be sent is counted and never throws', async (t) => {
    const a = await listen(engine, t, '127.0.0.1:0')
    const bytes = Buffer.alloc(4096)
    const to = at('127.0.0.1:9')
    a.port.send(bytes, 0, 10, at('127.0.0.1:0'))
    a.port.send(bytes, 0, 10, at('[::1]:9'))
    a.port.send(bytes, 0, 4096, to)
    a.port.send(bytes, 10, 5, to)
    a.port.send(bytes, 4090, 4100, to)
    a.port.send(bytes, -1, 5, to)
    a.port.send(bytes, Number.NaN, 5, to)
    assert.equal(a.port.counters.sendErrors, 7)
    // Refused by the kernel: no socket of this machine may send to a broadcast address unasked.
    a.port.send(bytes, 0, 10, at('255.255.255.255:9'))
    await when(() => a.port.counters.sendErrors === 8)
    await a.port.close()
    a.port.send(bytes, 0, 10, to)
    assert.equal(a.port.counters.sendErrors, 9)
  })

  test('nobody at the other end is no error', async (t) => {
    const gone = createSocket('udp4').bind(0, '127.0.0.1')
    await once(gone, 'listening')
    const to = at(`127.0.0.1:${gone.address().port}`)
    gone.close()
    await once(gone, 'close')
    const a = await listen(engine, t, '127.0.0.1:0')
    const b = await listen(engine, t, '127.0.0.1:0')
    for (let i = 0; i < 5; i++) send(a.port, 'nobody', to)
    send(a.port, 'somebody', b.port.local)
    await b.until(1)
    assert.equal(b.got[0]!.text, 'somebody')
  })

  test('close is idempotent and frees the port', async (t) => {
    const a = await listen(engine, t, '127.0.0.1:0')
    const { local } = a.port
    send(a.port, 'last words', at('127.0.0.1:9'))
    await Promise.all([a.port.close(), a.port.close()])
    await a.port.close()
    const again = await engine.open({ address: local, onDatagram() {} })
    assert.ok(again.local.equals(local))
    await again.close()
  })
}
