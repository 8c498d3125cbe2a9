/** Calls by werift's own peer connection: its ICE, DTLS, SRTP and SCTP against ours. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { MediaStreamTrack, type RTCDataChannel, RTCPeerConnection, RtpHeader, RtpPacket } from 'werift'
import { eventually } from '../../core/testing/check.ts'
import { startEdge } from '../peers/edge.ts'
import { Inbox } from '../peers/inbox.ts'
import type { Answered, Post } from '../peers/signaling.ts'

class WeriftClient implements AsyncDisposable {
  readonly peer = new RTCPeerConnection({ iceServers: [], iceAdditionalHostAddresses: ['127.0.0.1'] })
  readonly audio = new Inbox<Buffer>('audio packets')
  readonly messages = new Inbox<string>('messages')
  readonly channel: RTCDataChannel
  answered: Answered | undefined
  readonly #track = new MediaStreamTrack({ kind: 'audio' })
  #sequence = 0

  constructor() {
    this.peer.addTransceiver(this.#track, { direction: 'sendrecv' })
    this.peer.onTrack.subscribe((track) =>
      track.onReceiveRtp.subscribe(({ payload }) => this.audio.push(payload)),
    )
    this.channel = this.peer.createDataChannel('oai-events')
    this.channel.onMessage.subscribe((message) => this.messages.push(String(message)))
  }

  async call(post: Post): Promise<this> {
    await this.peer.setLocalDescription(await this.peer.createOffer())
    this.answered = await post(this.peer.localDescription!.sdp)
    await this.peer.setRemoteDescription({ type: 'answer', sdp: this.answered.sdp })
    await eventually('the channel is open', () => this.channel.readyState === 'open', 8000)
    return this
  }

  sendAudio(payload: Buffer): void {
    const sequenceNumber = this.#sequence++
    this.#track.writeRtp(
      new RtpPacket(new RtpHeader({ sequenceNumber, timestamp: sequenceNumber * 960 }), payload).serialize(),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.peer.close()
  }
}

// werift leaves handles open, which would keep this process for ever.
after(() => void setTimeout(() => process.exit(), 200))

describe('werift', () => {
  it('hears its own audio, gets its messages back, and hears of a hang-up', async () => {
    await using edge = await startEdge()
    await using client = await new WeriftClient().call(edge.post)
    client.channel.send('{"type":"hello"}')
    assert.equal(await client.messages.take(), '{"type":"hello"}')
    const packets = Array.from({ length: 25 }, () => Buffer.concat([Buffer.of(31 << 3), randomBytes(60)]))
    for (const packet of packets) {
      client.sendAudio(packet)
      await delay(20)
    }
    assert.deepEqual(await client.audio.takeMany(packets.length), packets)
    assert.equal(await edge.hangUp(client.answered!.url!), 200)
    assert.equal(await client.messages.take(), '{"type":"session.ended","reason":"hang_up"}')
    await edge.untilIdle()
  })

  it('leaves nothing behind when it closes', async () => {
    await using edge = await startEdge()
    const client = await new WeriftClient().call(edge.post)
    await client.peer.close()
    await edge.untilIdle(40_000)
  })
})
