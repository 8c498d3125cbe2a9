/** libdatachannel as a client: a peer connection, its audio track, and what came in. */

import { Audio, type DataChannel, PeerConnection, type Track, Video } from 'node-datachannel'
import { eventually } from '../../core/testing/check.ts'
import { Inbox } from '../peers/inbox.ts'
import type { Answered, Post } from '../peers/signaling.ts'

/** What the client offers; nothing but an audio track unless it is named. */
export interface NativeOptions {
  /** Labels of the data channels. */
  readonly channels?: readonly string[]
  /** Also offers a video track, before the audio. */
  readonly video?: boolean
  /** False: the offer names no source of its audio. Default true. */
  readonly ssrc?: boolean
  /** PEM files of the client's own certificate. */
  readonly certificate?: { readonly cert: string; readonly key: string }
}

const SSRC = 4711
const PAYLOAD_TYPE = 111

/** A client of libdatachannel. Close it: `using`. */
export class NativeClient implements Disposable {
  readonly peer: PeerConnection
  readonly track: Track
  /** Payloads of the RTP packets that came. */
  readonly audio = new Inbox<Buffer>('audio packets')
  /** `label: text` of what came on each channel. */
  readonly messages = new Inbox<string>('messages')
  readonly channels: DataChannel[] = []
  answered: Answered | undefined
  #sequence = 0

  constructor(options: NativeOptions = {}) {
    const { certificate, channels = [] } = options
    this.peer = new PeerConnection('client', {
      iceServers: [],
      bindAddress: '127.0.0.1',
      disableAutoNegotiation: true,
      ...(certificate && { certificatePemFile: certificate.cert, keyPemFile: certificate.key }),
    })
    if (options.video) this.peer.addTrack(video())
    const audio = new Audio('audio', 'SendRecv')
    audio.addOpusCodec(PAYLOAD_TYPE)
    if (options.ssrc ?? true) audio.addSSRC(SSRC, 'client')
    this.track = this.peer.addTrack(audio)
    this.track.onMessage((packet) => this.#onPacket(packet))
    for (const label of channels) this.openChannel(label)
  }

  /** Offers, posts, takes the answer, and waits until the call is up. */
  async call(post: Post): Promise<this> {
    this.peer.setLocalDescription('offer')
    await eventually('candidates are gathered', () => this.peer.gatheringState() === 'complete')
    this.answered = await post(this.peer.localDescription()!.sdp)
    this.peer.setRemoteDescription(this.answered.sdp, 'answer')
    await eventually('the track is open', () => this.track.isOpen())
    await this.channelsOpen()
    return this
  }

  /** Opens one more data channel. */
  openChannel(label: string): DataChannel {
    const channel = this.peer.createDataChannel(label)
    channel.onMessage((message) => this.messages.push(`${label}: ${message}`))
    this.channels.push(channel)
    return channel
  }

  /** Resolves when every channel is open. */
  channelsOpen(): Promise<void> {
    return eventually('the channels are open', () => this.channels.every((one) => one.isOpen()))
  }

  /** Sends one packet of 20 ms. */
  sendAudio(payload: Buffer): void {
    const header = Buffer.alloc(12)
    header[0] = 0x80
    header[1] = PAYLOAD_TYPE
    header.writeUInt16BE(this.#sequence & 0xffff, 2)
    header.writeUInt32BE(this.#sequence * 960, 4)
    header.writeUInt32BE(SSRC, 8)
    this.#sequence++
    this.track.sendMessageBinary(Buffer.concat([header, payload]))
  }

  /** Resolves when the connection is over. */
  ended(): Promise<void> {
    return eventually('the peer connection has ended', () => this.peer.state() === 'closed')
  }

  [Symbol.dispose](): void {
    this.peer.close()
  }

  #onPacket(packet: Buffer): void {
    const isRtcp = (packet[1]! & 0x7f) >= 64 && (packet[1]! & 0x7f) < 96
    if (!isRtcp) this.audio.push(Buffer.from(packet.subarray(12)))
  }
}

function video(): Video {
  const media = new Video('video', 'SendRecv')
  media.addVP8Codec(96)
  return media
}
