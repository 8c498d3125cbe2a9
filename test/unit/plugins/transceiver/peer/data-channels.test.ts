import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_QUEUED } from '../../../../../plugins/transceiver/peer/data-channels.ts'
import { makePair, seeded, until } from './channel-pair.ts'

const timeouts = (): number => process.getActiveResourcesInfo().filter((r) => r === 'Timeout').length

test('a channel with any label opens, and text and emptiness pass both ways', async (t) => {
  const pair = makePair({ client: { offer: 'événements 🎙️' } })
  t.after(() => pair.close())
  const { client, server } = pair
  assert.equal(client.channels.send('too early'), false)
  await until(() => client.channels.open && server.channels.open, 'open')
  assert.deepEqual([client.opened, server.opened], [['événements 🎙️'], ['événements 🎙️']])
  for (const text of ['hello', '', '{"type":"ping"}', '🎙️']) assert.ok(server.channels.send(text))
  assert.ok(client.channels.send('back'))
  await until(() => client.messages.length === 4 && server.messages.length === 1, 'messages')
  assert.deepEqual(client.messages, ['hello', '', '{"type":"ping"}', '🎙️'])
  assert.deepEqual(server.messages, ['back'])
  assert.deepEqual([client.faults, server.faults], [[], []])
})

for (const seed of [1, 2, 3]) {
  test(`1000 messages come in order over a bad link (seed ${seed})`, async (t) => {
    const faults = { seed, loss: 0.05, duplicate: 0.1, reorder: 0.2 }
    const pair = makePair({ client: { offer: 'c' } }, faults)
    t.after(() => pair.close())
    const { client, server } = pair
    await until(() => client.channels.open && server.channels.open, 'open')
    const expected = Array.from({ length: 1000 }, (_, i) => `message ${i}`)
    for (const text of expected) assert.ok(client.channels.send(text))
    await until(() => server.messages.length >= 1000, '1000 messages')
    assert.deepEqual(server.messages, expected)
  })
}

test('256 KB pass as one message, in datagrams that leave DTLS room under 1200 bytes', async (t) => {
  const pair = makePair({ client: { offer: 'c' } }, { seed: 5, loss: 0.01, reorder: 0.1 })
  t.after(() => pair.close())
  const { client, server } = pair
  await until(() => client.channels.open && server.channels.open, 'open')
  const random = seeded(9)
  const text = Array.from({ length: 262_144 }, () => String.fromCharCode(32 + random() * 90)).join('')
  assert.ok(server.channels.send(text))
  await until(() => client.messages.length === 1, 'the message')
  assert.equal(client.messages[0], text)
  assert.ok(server.largest <= 1163 && client.largest <= 1163, `${server.largest}, ${client.largest}`)
})

test('a pre-negotiated channel opens without DCEP', async (t) => {
  const pair = makePair({ client: { negotiatedId: 7 }, server: { negotiatedId: 7 } })
  t.after(() => pair.close())
  const { client, server } = pair
  await until(() => client.channels.open && server.channels.open, 'open')
  assert.deepEqual([client.opened, server.opened], [[''], ['']])
  assert.ok(server.channels.send('hi'))
  await until(() => client.messages.length === 1, 'a message')
  assert.deepEqual(client.messages, ['hi'])
})

test('what is larger than the peer takes is refused', async (t) => {
  const pair = makePair({ client: { offer: 'c' }, server: { maxMessageSize: 10 } })
  t.after(() => pair.close())
  const { server } = pair
  await until(() => server.channels.open, 'open')
  assert.equal(server.channels.send('ééééé'), true)
  assert.equal(server.channels.send('éééééx'), false)
  assert.deepEqual(server.faults, ['message_size'])
})

test('what waits is bounded when the peer takes nothing, many small messages and few large', async (t) => {
  for (const size of [1, 60_000]) {
    const pair = makePair({ client: { offer: 'c' } })
    t.after(() => pair.close())
    const { server } = pair
    await until(() => server.channels.open && pair.client.channels.open, 'open')
    pair.tap = () => undefined
    const text = 'x'.repeat(size)
    let accepted = 0
    while (server.channels.send(text)) accepted++
    assert.ok(accepted * size <= MAX_QUEUED && accepted <= 4096, `${accepted} of ${size} bytes`)
    assert.ok(accepted * (size + 256) > MAX_QUEUED * 0.9)
    assert.equal(server.channels.send(text), false)
    assert.deepEqual(new Set(server.faults), new Set(['queue_full']))
    pair.close()
  }
})

test('what is sent but not acknowledged counts as waiting', async (t) => {
  const pair = makePair({ client: { offer: 'c' } })
  t.after(() => pair.close())
  const { client, server } = pair
  await until(() => server.channels.open && client.channels.open, 'open')
  const text = 'x'.repeat(60_000)
  // The congestion window grows with what is acknowledged, and lets more out unacknowledged.
  for (let i = 1; i <= 40; i++) {
    assert.ok(server.channels.send(text))
    if (i % 10 === 0) await until(() => client.messages.length === i, 'messages')
  }
  pair.tap = (packet, to) => (to === 'server' ? undefined : packet)
  let accepted = 0
  for (let i = 0; i < 100; i++) {
    if (server.channels.send(text)) accepted++
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(client.messages.length > 40, 'some left')
  assert.ok(accepted * 60_000 <= MAX_QUEUED, `${accepted} messages`)
})

test('closing frees every timer, tells the peer, and is silent on this side', async () => {
  const before = timeouts()
  const pair = makePair({ client: { offer: 'c' } })
  const { client, server } = pair
  await until(() => client.channels.open && server.channels.open, 'open')
  pair.tap = (packet, to) => (to === 'client' && packet[12] !== 6 ? undefined : packet)
  server.channels.send('never acknowledged')
  client.channels.send('nor this')
  await until(() => timeouts() - before === 2, 'one timer for each association')
  server.channels.close()
  server.channels.close()
  await until(() => client.closes === 1, 'the peer hears of it')
  assert.equal(server.closes, 0)
  assert.equal(timeouts(), before)
  assert.deepEqual(
    [client.channels.open, client.channels.send('x'), server.channels.send('x')],
    [false, false, false],
  )
})

test('closing before the association starts leaves nothing running', async () => {
  const before = timeouts()
  const pair = makePair({ client: { offer: 'c' } })
  pair.close()
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(timeouts(), before)
  assert.equal(pair.client.closes + pair.server.closes, 0)
})

test('an idle association has no timer', async (t) => {
  const before = timeouts()
  const pair = makePair({ client: { offer: 'c' } })
  t.after(() => pair.close())
  await until(() => pair.client.channels.open && pair.server.channels.open, 'open')
  await until(() => timeouts() === before, 'no timer')
})
