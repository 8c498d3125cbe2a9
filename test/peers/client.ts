/**
 * A WebRTC client for tests and load, composed of the edge's own parts with the roles swapped: ICE checks, DTLS, SRTP
 * and a data channel over one UDP socket. `connect` does all of it; `open`, `accept` and `connected` are its steps.
 *
 * What the server sends is kept in inboxes (`audio`, `events`, `rtcp`) until a test takes it.
 */

import { randomBytes } from 'node:crypto'
import type { Address, JsonObject } from '../../core/index.ts'
import type { SrtpKeys } from '../../plugins/transceiver/media/srtp-keys.ts'
import { DataChannels } from '../../plugins/transceiver/peer/data-channels.ts'
import { type Answer, readAnswer } from './answer.ts'
import type { Credentials } from './checks.ts'
import { type AudioFields, ClientAudio, type ReceivedAudio } from './client-audio.ts'
import { sharedIdentity } from './client-identity.ts'
import type { ClientOptions } from './client-options.ts'
import type { ClientSocket } from './client-socket.ts'
import { ClientTransport } from './client-transport.ts'
import { Inbox } from './inbox.ts'
import { randomCredentials, writeOffer } from './offer.ts'
import type { Answered, Post } from './signaling.ts'

/** A client, from its offer to its end. Close it: `await using`. */
export class TestClient implements AsyncDisposable {
  /** The offer's text; post it, and `accept` the answer. */
  readonly offer: string
  readonly credentials: Credentials
  readonly audio: Inbox<ReceivedAudio>
  /** SRTCP compounds, decrypted. */
  readonly rtcp: Inbox<Buffer>
  /** JSON objects that came on the data channel. */
  readonly events = new Inbox<JsonObject>('events')
  /** What the data channels complained of. */
  readonly faults: string[] = []
  /** How the call ended: `close_notify`, `failed: …`, or `closed` by us. */
  readonly ended: Promise<string>
  /** The server closed the data channel. */
  readonly channelClosed: Promise<void>
  answer: Answer | undefined
  /** The call's own URL, when signaling gave one. */
  url: string | undefined
  /** What SRTP was agreed on: 7 AEAD_AES_128_GCM, 1 AES128_CM_HMAC_SHA1_80. */
  srtpProfile: SrtpKeys['profile'] | undefined
  /** Undefined until DTLS is connected. */
  media: ClientAudio | undefined
  channels: DataChannels | undefined
  readonly #o: ClientOptions
  readonly #ssrc: number
  readonly #connected = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<string>()
  readonly #channelClosed = Promise.withResolvers<void>()
  #transport!: ClientTransport
  #over = false

  private constructor(options: ClientOptions, fingerprint: string) {
    this.#o = options
    this.#ssrc = options.ssrc ?? randomBytes(4).readUInt32BE()
    this.credentials = options.credentials ?? randomCredentials()
    this.offer = writeOffer({ ...options, ssrc: this.#ssrc, ...this.credentials, fingerprint })
    const limit = (options.keep ?? true) ? 10_000 : 0
    this.audio = new Inbox('audio packets', limit)
    this.rtcp = new Inbox('RTCP packets', limit)
    this.ended = this.#ended.promise
    this.channelClosed = this.#channelClosed.promise
    // A client that nobody waits for may fail without taking the process down.
    this.#connected.promise.catch(() => {})
  }

  /** Opens the socket and writes the offer; nothing is sent. */
  static async open(options: ClientOptions = {}): Promise<TestClient> {
    const identity = options.identity ?? sharedIdentity()
    const client = new TestClient(options, identity.fingerprint)
    client.#transport = await ClientTransport.open(options, identity, {
      onKeys: (keys) => client.#onKeys(keys),
      onMessage: (message) => client.channels?.receive(message),
      onMedia: (bytes, start, end) => client.media?.receive(bytes, start, end),
      onEnd: (reason) => void client.#end(reason, false),
    })
    return client
  }

  /** Calls and waits until audio can flow and the data channel, if offered, is open. */
  static async connect(post: Post, options: ClientOptions = {}): Promise<TestClient> {
    const client = await TestClient.open(options)
    try {
      client.accept(await post(client.offer))
      await client.connected()
      return client
    } catch (error) {
      await client.close()
      throw error
    }
  }

  /** Takes the answer and begins to check. */
  accept({ sdp, url }: Answered): void {
    this.answer = readAnswer(sdp)
    this.url = url
    this.#transport.start(this.credentials, this.answer)
  }

  /** Resolves when the call is up; rejects when it fails, or is not up in time. */
  async connected(): Promise<void> {
    const { timeoutMs = 10_000 } = this.#o
    const timer = setTimeout(() => {
      this.#connected.reject(new Error(`not connected after ${timeoutMs} ms: ${this.#progress()}`))
    }, timeoutMs)
    try {
      await this.#connected.promise
    } finally {
      clearTimeout(timer)
    }
  }

  /** Socket, checks and DTLS, for tests that go below the surface. */
  get transport(): ClientTransport {
    return this.#transport
  }

  /** The socket: its tap, its counters, and where it sends. */
  get socket(): ClientSocket {
    return this.#transport.socket
  }

  /** Our address. */
  get local(): Address {
    return this.socket.local
  }

  /** Sends one audio packet. */
  sendAudio(payload: Uint8Array, fields?: AudioFields): void {
    if (!this.media) throw new Error('not connected')
    this.media.send(payload, fields)
  }

  /** Sends an event on the data channel. */
  sendEvent(event: JsonObject): void {
    this.sendText(JSON.stringify(event))
  }

  /** Sends any text on the data channel. */
  sendText(text: string): void {
    if (!this.channels?.send(text)) throw new Error('the data channel is not open, or its queue is full')
  }

  /** Sends a datagram as it is, to the server unless another address is named. */
  sendRaw(bytes: Uint8Array, to?: Address): void {
    this.#transport.send(bytes, to)
  }

  /** Goes on from another port; checks are sent from there at once. */
  rebind(bind?: Address): Promise<void> {
    return this.#transport.rebind(bind)
  }

  /** Hangs up by DTLS, as a closed browser tab does, and frees everything. Idempotent. */
  close(): Promise<void> {
    return this.#end('closed', true)
  }

  /** Frees everything without a word, as a phone without battery does. Idempotent. */
  vanish(): Promise<void> {
    return this.#end('closed', false)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #onKeys(keys: SrtpKeys): void {
    const { audio, data, setup } = this.answer!
    const { keep = true, label = 'oai-events', channelId } = this.#o
    const ssrc = this.#ssrc
    this.srtpProfile = keys.profile
    this.media = new ClientAudio(
      { keys, payloadType: audio.payloadType, ssrc, keep, received: this.audio, receivedRtcp: this.rtcp },
      (bytes, start, end) => this.socket.send(bytes, start, end),
    )
    if (!data) {
      this.#connected.resolve()
      return
    }
    this.channels = new DataChannels({
      role: setup === 'passive' ? 'client' : 'server',
      remotePort: data.sctpPort,
      maxMessageSize: data.maxMessageSize,
      ...(channelId === undefined ? { offer: label } : { negotiatedId: channelId }),
      send: (packet) => void this.transport.dtls?.write(packet),
      onOpen: () => this.#connected.resolve(),
      onMessage: (_label, message) => this.#onMessage(message),
      onClose: () => this.#channelClosed.resolve(),
      onFault: (fault) => this.faults.push(fault),
    })
  }

  #onMessage(message: string | Uint8Array): void {
    const event: JsonObject = JSON.parse(typeof message === 'string' ? message : '{"type":"binary"}')
    this.events.push(event)
  }

  #progress(): string {
    const { checks, dtls } = this.transport
    const channel = this.channels?.open ? 'open' : 'not open'
    return `checks ${JSON.stringify(checks?.counters)}, DTLS ${dtls?.state ?? 'not begun'}, channel ${channel}`
  }

  async #end(reason: string, farewell: boolean): Promise<void> {
    if (!this.#over) {
      this.#over = true
      this.#connected.reject(new Error(`the call ended: ${reason}`))
      this.#ended.resolve(reason)
      if (farewell) this.channels?.close()
    }
    await this.#transport.close(farewell)
    this.channels?.close()
    this.media?.close()
  }
}
