/**
 * What libdatachannel (usrsctp, libsrtp, libjuice) must be able to do through relay, transceiver and loopback bridge.
 * Run with the number of a check, this file is the process of that check: the library may crash a process that ends.
 */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Check } from '../../core/testing/check.ts'
import { startEdge } from '../peers/edge.ts'
import { NativeClient } from './libdatachannel.ts'

/** 20 ms of Opus as far as its length can be told; the rest is noise. */
function opusPacket(size = 80): Buffer {
  return Buffer.concat([Buffer.of(31 << 3), randomBytes(size - 1)])
}

async function assertAudioReturns(client: NativeClient): Promise<void> {
  const packets = Array.from({ length: 25 }, (_, n) => opusPacket(40 + n))
  for (const packet of packets) {
    client.sendAudio(packet)
    await delay(20)
  }
  assert.deepEqual(await client.audio.takeMany(packets.length), packets)
}

/** By name. The last needs the openssl command. */
export const CHECKS: readonly Check[] = [
  [
    'hears its own audio, and gets its messages back',
    async () => {
      await using edge = await startEdge()
      using client = await new NativeClient({ channels: ['oai-events'] }).call(edge.post)
      await assertAudioReturns(client)
      client.channels[0]!.sendMessage('{"type":"hello"}')
      assert.equal(await client.messages.take(), 'oai-events: {"type":"hello"}')
    },
  ],

  [
    'hears of a hang-up',
    async () => {
      await using edge = await startEdge()
      using client = await new NativeClient({ channels: ['oai-events'] }).call(edge.post)
      assert.equal(await edge.hangUp(client.answered!.url!), 200)
      assert.equal(await client.messages.take(), 'oai-events: {"type":"session.ended","reason":"hang_up"}')
      await client.ended()
      await edge.untilIdle()
    },
  ],

  [
    'hangs up',
    async () => {
      await using edge = await startEdge()
      const client = await new NativeClient({ channels: ['oai-events'] }).call(edge.post)
      client.peer.close()
      await edge.untilIdle()
    },
  ],

  [
    'needs neither a=ssrc nor a data channel',
    async () => {
      await using edge = await startEdge()
      using client = await new NativeClient({ ssrc: false }).call(edge.post)
      await assertAudioReturns(client)
    },
  ],

  [
    'is refused its video and nothing else',
    async () => {
      await using edge = await startEdge()
      using client = await new NativeClient({ video: true, channels: ['oai-events'] }).call(edge.post)
      assert.match(client.answered!.sdp, /^m=video 0 /m)
      await assertAudioReturns(client)
    },
  ],

  [
    'may open channels later, and several',
    async () => {
      await using edge = await startEdge()
      using client = await new NativeClient({ channels: ['oai-events'] }).call(edge.post)
      for (const label of ['second', 'third', '']) client.openChannel(label)
      await client.channelsOpen()
      for (const { label, channel } of client.channels.map((channel) => ({
        channel,
        label: channel.getLabel(),
      })))
        channel.sendMessage(JSON.stringify({ type: 'from', label }))
      const heard = await client.messages.takeMany(4)
      assert.deepEqual(
        heard.map((message) => message.replace(/^[^{]*/, '')).sort(),
        ['', 'oai-events', 'second', 'third'].map((label) => JSON.stringify({ type: 'from', label })).sort(),
      )
      await assertAudioReturns(client)
    },
  ],

  [
    'may offer again: that is another call, and this one goes on',
    async () => {
      await using edge = await startEdge()
      using client = await new NativeClient({ channels: ['oai-events'] }).call(edge.post)
      const again = await edge.post(client.peer.localDescription()!.sdp)
      assert.notEqual(again.url, client.answered!.url)
      assert.equal((await edge.sessions()).total, 2)
      await assertAudioReturns(client)
      assert.equal(await edge.hangUp(again.url!), 200)
      await assertAudioReturns(client)
    },
  ],

  [
    'may bring an RSA certificate',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'earshot-rsa-'))
      try {
        const certificate = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
        const made = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=client', '-days', '2']
        const files = ['-keyout', certificate.key, '-out', certificate.cert]
        execFileSync('openssl', ['req', ...made, ...files], { stdio: 'ignore' })
        await using edge = await startEdge()
        using client = await new NativeClient({ certificate, channels: ['oai-events'] }).call(edge.post)
        await assertAudioReturns(client)
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  ],
]

if (process.argv[1] === import.meta.filename) {
  const error = await CHECKS[Number(process.argv[2])]![1]().then(
    () => '',
    (cause: Error) => String(cause.stack),
  )
  process.send!(error, () => process.kill(process.pid, 'SIGKILL'))
}
