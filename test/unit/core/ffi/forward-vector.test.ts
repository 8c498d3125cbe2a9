/** Datagrams sent on in place, with and without segmentation by the kernel. */

import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { HEAD_ROOM } from '../../../../core/contracts/udp-port.ts'
import { ForwardVector } from '../../../../core/ffi/forward-vector.ts'
import { type Libc, libc } from '../../../../core/ffi/libc.ts'
import { ReceiveVector, SendVector } from '../../../../core/ffi/message-vector.ts'
import { openUdpSocket } from '../../../../core/ffi/udp-socket.ts'
import { Address, parseAddress } from '../../../../core/wire/address.ts'

const BUFFERS = { receiveBuffer: 1 << 20, sendBuffer: 1 << 20 }
const calls = libc()

/** A receiver that counts what comes. */
async function sink(t: {
  after(run: () => void): void
}): Promise<{ got: Buffer[]; to: Address; socket: Socket }> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  const got: Buffer[] = []
  socket.on('message', (message) => got.push(message))
  return { got, to: parseAddress(`127.0.0.1:${socket.address().port}`)!, socket }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

/** Datagrams in the slots of a vector, as they come from a client. */
async function received(c: Libc, t: { after(run: () => void): void }, payloads: readonly Buffer[]) {
  const { fd, local } = openUdpSocket(c, parseAddress('127.0.0.1:0')!, BUFFERS)
  t.after(() => c.close(fd))
  const client = createSocket('udp4')
  t.after(() => client.close())
  for (const payload of payloads)
    await new Promise((done) => client.send(payload, local.port, '127.0.0.1', done))
  const vector = new ReceiveVector(c, 64)
  const count = vector.receive(fd)
  assert.equal(count, payloads.length)
  return { fd, vector }
}

const payload = (n: number, size: number): Buffer => Buffer.alloc(size, n)

/** Calls whose `sendmmsg` answers as told, and then that the socket's buffer is full. */
function full(c: Libc, answers: readonly { sent: number; errno?: number }[] = []) {
  const left = [...answers]
  const asked: number[] = []
  let errno = 0
  const calls: Libc = {
    ...c,
    sendmmsg(_fd, _messages, count) {
      const { sent, errno: why = 11 } = left.shift() ?? { sent: -1 }
      asked.push(count)
      errno = why
      return sent
    },
    errno: () => errno,
  }
  return { asked, calls }
}

for (const segments of [false, true]) {
  describe(`sending on in place, segments ${segments}`, {
    skip: calls ? false : 'needs 64-bit Linux and koffi',
  }, () => {
    const c = calls!

    it('keeps every datagram whole and in order, whatever the sizes', async (t) => {
      const sizes = [160, 160, 160, 90, 160, 161, 161, 12, 1, 1452, 1452, 1453, 1453, 2000, 160]
      const payloads = sizes.map((size, n) => payload(n, size))
      const { fd, vector } = await received(c, t, payloads)
      const { got, to } = await sink(t)
      const out = new ForwardVector(c, fd, 64, { isIPv4: true, segments })
      for (let i = 0; i < payloads.length; i++) {
        out.add(vector, i, HEAD_ROOM, HEAD_ROOM + vector.length(i), to)
      }
      assert.equal(out.flush(), 0)
      assert.equal(out.count, 0)
      await until(() => got.length === payloads.length)
      assert.deepEqual(got, payloads)
    })

    it('hands the kernel as few messages as it may', async (t) => {
      const { fd, vector } = await received(
        c,
        t,
        Array.from({ length: 20 }, (_, n) => payload(n, 160)),
      )
      const { got, to } = await sink(t)
      const messages: number[] = []
      const watched: Libc = {
        ...c,
        sendmmsg(...args) {
          messages.push(args[2])
          return c.sendmmsg(...args)
        },
      }
      const out = new ForwardVector(watched, fd, 64, { isIPv4: true, segments })
      for (let i = 0; i < 20; i++) out.add(vector, i, HEAD_ROOM, HEAD_ROOM + 160, to)
      out.flush()
      assert.deepEqual(messages, [segments ? 1 : 20])
      await until(() => got.length === 20)
    })

    it('sends what is in the head room with it', async (t) => {
      const { fd, vector } = await received(c, t, [Buffer.from('one'), Buffer.from('two')])
      const { got, to } = await sink(t)
      const out = new ForwardVector(c, fd, 64, { isIPv4: true, segments })
      for (let i = 0; i < 2; i++) {
        vector.slots[i]!.write(`${i}:`, HEAD_ROOM - 2)
        out.add(vector, i, HEAD_ROOM - 2, HEAD_ROOM + 3, to)
      }
      out.flush()
      await until(() => got.length === 2)
      assert.deepEqual(got.map(String), ['0:one', '1:two'])
    })

    it('gives up what is left where the buffer is full, and counts it', async (t) => {
      const { fd, vector } = await received(
        c,
        t,
        Array.from({ length: 30 }, (_, n) => payload(n, 100)),
      )
      const a = parseAddress('127.0.0.1:9')!
      const b = parseAddress('127.0.0.1:10')!
      // Three messages leave where each is one datagram, three runs of five where they are runs.
      const { asked, calls } = full(c, [{ sent: 3 }])
      const out = new ForwardVector(calls, fd, 64, { isIPv4: true, segments })
      for (let round = 0; round < 2; round++) {
        for (let i = 0; i < 30; i++) out.add(vector, i, HEAD_ROOM, HEAD_ROOM + 100, i % 10 < 5 ? a : b)
        const left = round === 1 ? 30 : segments ? 15 : 27
        assert.equal(out.flush(), left, `of flush ${round}`)
        assert.equal(out.count, 0)
      }
      assert.deepEqual(asked, segments ? [6, 3, 6] : [30, 27, 30])
      assert.equal(out.splitRuns, 0)
    })

    it('keeps receivers apart, and one that is refused costs the others nothing', async (t) => {
      const { fd, vector } = await received(
        c,
        t,
        Array.from({ length: 30 }, (_, n) => payload(n, 100)),
      )
      const [a, b] = [await sink(t), await sink(t)]
      const refused = new Address().set(0, 0, 0xffff, -1, 9)
      const out = new ForwardVector(c, fd, 64, { isIPv4: true, segments })
      const targets = [a!.to, a!.to, refused, refused, refused, b!.to]
      for (let i = 0; i < 30; i++) out.add(vector, i, HEAD_ROOM, HEAD_ROOM + 100, targets[i % 6]!)
      assert.equal(out.flush(), 15)
      await until(() => a!.got.length === 10 && b!.got.length === 5)
      assert.deepEqual(
        a!.got.map((message) => message[0]),
        [0, 1, 6, 7, 12, 13, 18, 19, 24, 25],
      )
    })
  })
}

describe('a buffer that is full', { skip: calls ? false : 'needs 64-bit Linux and koffi' }, () => {
  const c = calls!

  it('while a refused run goes one by one, ends it', async (t) => {
    const { fd, vector } = await received(
      c,
      t,
      Array.from({ length: 10 }, (_, n) => payload(n, 100)),
    )
    // The run is refused (EIO), then two of it leave.
    const { asked, calls } = full(c, [{ sent: -1, errno: 5 }, { sent: 1 }, { sent: 1 }])
    const out = new ForwardVector(calls, fd, 64, { isIPv4: true, segments: true })
    for (let i = 0; i < 10; i++) out.add(vector, i, HEAD_ROOM, HEAD_ROOM + 100, parseAddress('127.0.0.1:9')!)
    assert.equal(out.flush(), 8)
    assert.deepEqual(asked, [1, 1, 1, 1])
  })

  it('costs what is left of copies, and one call; another refusal costs one of them', () => {
    const { asked, calls } = full(c, [{ sent: 2 }, { sent: -1, errno: 90 }])
    const out = new SendVector(calls, 64, true)
    for (let i = 0; i < 10; i++) out.add(payload(i, 100), 0, 100, parseAddress('127.0.0.1:9')!)
    assert.equal(out.flush(0), 8)
    assert.deepEqual(asked, [10, 8, 7])
    assert.equal(out.count, 0)
  })
})
