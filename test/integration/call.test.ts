/** A call through relay, transceiver and loopback bridge, with nothing of a browser in it. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { DtlsConnection } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge } from '../peers/edge.ts'

/** An Opus packet of 20 ms (CELT, fullband, mono) as far as its length can be told; the rest is noise. */
function opusPacket(size: number): Buffer {
  return Buffer.concat([Buffer.of(31 << 3), randomBytes(size - 1)])
}

const AT_START = handles()

describe('a call through the relay', () => {
  it('gives audio back untouched and in order', async () => {
    await using edge = await startEdge()
    await using client = await TestClient.connect(edge.post)
    const packets = Array.from({ length: 50 }, (_, i) => opusPacket(20 + i * 20))
    for (const packet of packets) {
      client.sendAudio(packet)
      await delay(20)
    }
    const heard = await client.audio.takeMany(packets.length)
    assert.deepEqual(
      heard.map(({ payload }) => payload),
      packets,
    )
    const { audio } = client.answer!
    for (const [i, packet] of heard.entries()) {
      assert.equal(packet.ssrc, audio.ssrc)
      assert.equal(packet.payloadType, audio.payloadType)
      assert.equal((packet.sequence - heard[0]!.sequence) & 0xffff, i)
    }
    const { flows } = await edge.flows()
    const flow = flows.find((one) => one.client === client.local.toString())
    assert.ok(flow && flow.packets.up >= packets.length, 'the audio went through the relay')
  })

  it('gives events back in order, large ones too', async () => {
    await using edge = await startEdge()
    await using client = await TestClient.connect(edge.post)
    const events = Array.from({ length: 20 }, (_, n) => ({ type: 'note', n, text: 'ä'.repeat(n * 1000) }))
    for (const event of events) client.sendEvent(event)
    assert.deepEqual(await client.events.takeMany(events.length), events)
    assert.deepEqual(client.faults, [])
  })

  it('lets the client be the DTLS server', async () => {
    await using edge = await startEdge()
    await using client = await TestClient.connect(edge.post, { setup: 'passive' })
    assert.equal(client.answer?.setup, 'active')
    client.sendEvent({ type: 'hello' })
    assert.deepEqual(await client.events.take(), { type: 'hello' })
  })

  it('works without a data channel', async () => {
    await using edge = await startEdge()
    await using client = await TestClient.connect(edge.post, { data: false })
    assert.equal(client.answer?.data, undefined)
    const packet = opusPacket(80)
    client.sendAudio(packet)
    assert.deepEqual((await client.audio.take()).payload, packet)
  })

  for (const data of [true, false]) {
    it(`frees OpenSSL’s connection once the client has shown its keys, data channel: ${data}`, async () => {
      await using edge = await startEdge()
      await using client = await TestClient.connect(edge.post, { data })
      if (!data) {
        assert.equal(DtlsConnection.live, 1, 'the server’s: the client may still ask for its Finished')
        client.sendAudio(opusPacket(80))
        await client.audio.take()
      }
      assert.equal(DtlsConnection.live, 0)
      await client.close()
      assert.equal(await client.ended, 'closed')
      await edge.untilIdle()
    })
  }
})

describe('the end of a call', () => {
  it('frees everything when it is asked for over HTTP, and the client hears why', async () => {
    await using edge = await startEdge()
    await using client = await TestClient.connect(edge.post)
    assert.equal((await edge.sessions()).total, 1)
    assert.equal(await edge.hangUp(client.url!), 200)
    assert.deepEqual(await client.events.take(), { type: 'session.ended', reason: 'hang_up' })
    assert.equal(await client.ended, 'close_notify')
    await edge.untilIdle()
    assert.equal(await edge.hangUp(client.url!), 404)
  })

  it('frees everything when the client closes', async () => {
    await using edge = await startEdge()
    const client = await TestClient.connect(edge.post)
    await client.close()
    await edge.untilIdle()
  })

  it('tells the client when the edge is stopped', async () => {
    const edge = await startEdge()
    await using client = await TestClient.connect(edge.post)
    await edge.close()
    assert.equal(await client.ended, 'close_notify')
  })

  it('leaves no timer and no handle behind', async () => {
    const edge = await startEdge()
    const client = await TestClient.connect(edge.post)
    client.sendAudio(opusPacket(80))
    await client.audio.take()
    await edge.hangUp(client.url!)
    await client.ended
    await client.close()
    await edge.close()
    await eventually('all is closed', () => handles().length <= AT_START.length).catch(() => {})
    assert.deepEqual(handles(), AT_START)
  })
})

/** What keeps the process alive now, but for the wait for just this. */
function handles(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => name !== 'Immediate')
    .sort()
}
