/**
 * The data channels of one session (RFC 8831, RFC 8832) over one guarded SCTP association.
 *
 * Channels, message sizes and what is queued are bounded. What a peer sends wrongly is dropped and reported by a short
 * fixed word to `onFault`; nothing throws.
 */

import { Association } from './association.ts'
import { DCEP_ACK, PPID, readDcep, writeDcepOpen } from './dcep.ts'

/** At most this many channels at a time; another is reset at once. */
export const MAX_CHANNELS = 16
/** The largest message taken, in bytes. */
const MAX_INCOMING_MESSAGE = 262_144
/** The most that waits to be sent or acknowledged, in bytes. */
export const MAX_QUEUED = 1_048_576
/** What a queued message costs beside its bytes, so that many small ones are bounded too. */
const MESSAGE_COST = 256

/** What the channels need and whom they tell. */
export interface DataChannelsOptions {
  /** Our DTLS role: the client sends the INIT and has even stream ids. */
  readonly role: 'server' | 'client'
  /** The peer's SCTP port. */
  readonly remotePort: number
  /** The largest message the peer takes, in bytes. */
  readonly maxMessageSize: number
  /** A channel with this stream id that needs no DCEP: `negotiated: true` at the peer. Its label is empty here. */
  readonly negotiatedId?: number
  /** Opens a channel of our own with this label. */
  readonly offer?: string
  /** Sends an SCTP packet over DTLS; the bytes are the callee's. */
  send(packet: Uint8Array): void
  onOpen(label: string): void
  onMessage(label: string, data: string | Uint8Array): void
  /** The last open channel has closed, or the association has ended; not after `close`. */
  onClose(): void
  onFault(reason: string): void
}

interface Channel {
  readonly label: string
  open: boolean
}

interface Outgoing {
  readonly streamId: number
  readonly protocol: number
  readonly data: Buffer
}

/** The channels. `close` them. */
export class DataChannels {
  readonly #options: DataChannelsOptions
  readonly #association: Association
  readonly #channels = new Map<number, Channel>()
  readonly #queue: Outgoing[] = []
  #queued = 0
  #pumping = false
  #closed = false

  constructor(options: DataChannelsOptions) {
    this.#options = options
    if (options.negotiatedId !== undefined)
      this.#channels.set(options.negotiatedId, { label: '', open: false })
    this.#association = new Association({
      initiate: options.role === 'client',
      remotePort: options.remotePort,
      maxMessageSize: MAX_INCOMING_MESSAGE,
      send: (packet) => options.send(packet),
      onEstablished: () => this.#onEstablished(),
      onMessage: (streamId, protocol, data) => this.#onMessage(streamId, protocol, data),
      onStreamsReset: (streamIds) => this.#onStreamsReset(streamIds),
      streamIds: () => [...this.#channels.keys()],
      onClosed: () => this.#onAssociationClosed(),
      onFault: (reason) => options.onFault(reason),
    })
  }

  /** Whether a channel is open. */
  get open(): boolean {
    return this.#firstOpen() !== undefined
  }

  /** Whether a message has not left as a whole yet. */
  get queued(): boolean {
    return this.#queue.length > 0
  }

  /** Whether a message has not been acknowledged as a whole yet. */
  get waiting(): boolean {
    return this.#queue.length > 0 || this.#association.outstanding > 0
  }

  /** Takes an SCTP packet that DTLS delivered. */
  receive(packet: Buffer): void {
    if (!this.#closed) this.#association.receive(packet)
  }

  /**
   * Sends text on the first open channel. False when none is open, or, with a fault, when the message is larger than the
   * peer takes (`message_size`) or too much is waiting (`queue_full`).
   */
  send(text: string): boolean {
    const streamId = this.#firstOpen()
    if (streamId === undefined) return false
    const size = Buffer.byteLength(text)
    if (size > this.#options.maxMessageSize) return this.#refuse('message_size')
    const waiting = this.#queued + this.#association.outstanding
    if (waiting + size + MESSAGE_COST > MAX_QUEUED) return this.#refuse('queue_full')
    // SCTP carries no empty message: one zero byte stands for it (RFC 8831 §6.6).
    if (size === 0) this.#enqueue({ streamId, protocol: PPID.emptyText, data: Buffer.alloc(1) })
    else this.#enqueue({ streamId, protocol: PPID.text, data: Buffer.from(text) })
    return true
  }

  /** Ends the association and frees everything. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#free()
    this.#association.close()
  }

  #firstOpen(): number | undefined {
    if (this.#closed) return undefined
    for (const [streamId, channel] of this.#channels) if (channel.open) return streamId
    return undefined
  }

  #refuse(reason: string): false {
    this.#options.onFault(reason)
    return false
  }

  #enqueue(outgoing: Outgoing): void {
    this.#queue.push(outgoing)
    this.#queued += outgoing.data.length + MESSAGE_COST
    if (!this.#pumping) void this.#pump()
  }

  /** One message at a time: werift's `send` wakes every waiting one for each packet. */
  async #pump(): Promise<void> {
    this.#pumping = true
    for (let next = this.#queue[0]; next && !this.#closed; next = this.#queue[0]) {
      const { streamId, protocol, data } = next
      if (this.#channels.has(streamId)) {
        await this.#association.send(streamId, protocol, data).catch(() => this.#options.onFault('send'))
      }
      if (this.#closed) return
      this.#queue.shift()
      this.#queued -= data.length + MESSAGE_COST
    }
    this.#pumping = false
  }

  #onEstablished(): void {
    for (const channel of this.#channels.values()) this.#opened(channel)
    if (this.#options.offer === undefined) return
    const streamId = this.#options.role === 'client' ? 0 : 1
    if (this.#channels.has(streamId)) {
      this.#options.onFault('stream_in_use')
      return
    }
    this.#channels.set(streamId, { label: this.#options.offer, open: false })
    this.#enqueue({ streamId, protocol: PPID.dcep, data: writeDcepOpen(this.#options.offer) })
  }

  #onMessage(streamId: number, protocol: number, data: Buffer): void {
    if (protocol === PPID.dcep) {
      this.#onDcep(streamId, data)
      return
    }
    const channel = this.#channels.get(streamId)
    if (!channel) {
      this.#options.onFault('no_channel')
      return
    }
    // Our own channel is confirmed by data as well as by an ACK, whichever comes first.
    if (!channel.open) this.#opened(channel)
    if (protocol === PPID.text) this.#options.onMessage(channel.label, data.toString('utf8'))
    else if (protocol === PPID.emptyText) this.#options.onMessage(channel.label, '')
    else if (protocol === PPID.binary) this.#options.onMessage(channel.label, data)
    else if (protocol === PPID.emptyBinary) this.#options.onMessage(channel.label, new Uint8Array())
    else this.#options.onFault('payload_protocol')
  }

  #onDcep(streamId: number, data: Buffer): void {
    const message = readDcep(data)
    const channel = this.#channels.get(streamId)
    if (message?.type === 'ack') {
      if (!channel) {
        this.#options.onFault('stray_ack')
        return
      }
      this.#opened(channel)
    } else if (message?.type === 'open') {
      if (channel) {
        this.#options.onFault('stream_in_use')
        return
      }
      this.#onOpen(streamId, message.label)
    } else this.#options.onFault('dcep')
  }

  #onOpen(streamId: number, label: string): void {
    if (this.#channels.size >= MAX_CHANNELS) {
      this.#options.onFault('too_many_channels')
      this.#association.resetStream(streamId)
      return
    }
    const channel = { label, open: false }
    this.#channels.set(streamId, channel)
    this.#enqueue({ streamId, protocol: PPID.dcep, data: DCEP_ACK })
    this.#opened(channel)
  }

  #opened(channel: Channel): void {
    if (channel.open) return
    channel.open = true
    this.#options.onOpen(channel.label)
  }

  #onStreamsReset(streamIds: readonly number[]): void {
    const wasOpen = this.open
    for (const streamId of streamIds) this.#channels.delete(streamId)
    if (wasOpen && !this.open && !this.#closed) this.#options.onClose()
  }

  #onAssociationClosed(): void {
    if (this.#closed) return
    this.#free()
    this.#options.onClose()
  }

  #free(): void {
    this.#closed = true
    this.#channels.clear()
    this.#queue.length = 0
    this.#queued = 0
  }
}
