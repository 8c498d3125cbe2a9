/**
 * Events over the data channel: JSON objects as text, both ways. What is no event is answered with an error event and
 * goes no further; neither does an event that is longer than the client takes.
 */

import { EdgeError, type JsonObject } from '../../core/index.ts'
import { PacketBudget } from './packet-budget.ts'
import { DataChannels } from './peer/data-channels.ts'
import type { OfferedData } from './sdp/offer.ts'
import { droppedEvents, MAX_DEPTH, parseEvent, toErrorEvent } from './session-events.ts'

/** What was agreed on beside the offer. */
export interface ChannelTerms {
  /** A channel with this id that neither side opens with a word (`negotiated: true`). */
  readonly channelId?: number
  /** Sees texts first: what it returns is answered, if it is anything, and the text goes no further. */
  readonly intercept?: (text: string) => string | undefined
}

/** What the channel stands on, and whom it tells. */
export interface EventChannelOptions extends ChannelTerms {
  readonly role: 'server' | 'client'
  readonly offered: OfferedData
  /** An SCTP packet for the peer. */
  send(packet: Uint8Array): void
  onOpen(): void
  /** An event, and how many characters its text had. */
  onEvent(event: JsonObject, characters: number): void
  /** The peer closed its channel. */
  onClose(): void
  /** One of a few fixed words. */
  onFault(fault: string): void
}

/** A session's events. Close it. */
export class EventChannel {
  readonly #options: EventChannelOptions
  readonly #channels: DataChannels
  readonly #budget = new PacketBudget()

  constructor(options: EventChannelOptions) {
    this.#options = options
    this.#channels = new DataChannels({
      role: options.role,
      remotePort: options.offered.sctpPort,
      maxMessageSize: options.offered.maxMessageSize,
      ...(options.channelId === undefined ? {} : { negotiatedId: options.channelId }),
      send: (packet) => options.send(packet),
      onOpen: () => options.onOpen(),
      onMessage: (_label, data) => this.#onMessage(data),
      onClose: () => options.onClose(),
      onFault: (fault) => options.onFault(fault),
    })
  }

  /** Whether events can be sent. */
  get open(): boolean {
    return this.#channels.open
  }

  /** Whether something that was to be sent has not left yet. */
  get queued(): boolean {
    return this.#channels.queued
  }

  /** Whether something that was to be sent has not been acknowledged yet. */
  get waiting(): boolean {
    return this.#channels.waiting
  }

  /** Takes an SCTP packet. One too many is lost as if on the way: the peer sends it again, and slows down. */
  receive(now: number, packet: Buffer): void {
    if (this.#budget.take(now)) this.#channels.receive(packet)
    else this.#options.onFault('packet_rate')
  }

  /**
   * Sends an event's JSON text; false when the channel is not open, or its queue is full. True also for one that the
   * client would not take: it is dropped, and the client told.
   */
  send(text: string): boolean {
    const most = this.#options.offered.maxMessageSize
    if (!this.open) return false
    if (text.length > most / 3 && Buffer.byteLength(text) > most) {
      this.#options.onFault('message_size')
      const message = `An event was longer than the ${most} bytes that the offer says it may have, and was dropped.`
      this.#channels.send(JSON.stringify(droppedEvents(message)))
      return true
    }
    return this.#channels.send(text)
  }

  /** Frees everything. Idempotent. */
  close(): void {
    this.#channels.close()
  }

  #onMessage(data: string | Uint8Array): void {
    const answer = typeof data === 'string' ? this.#options.intercept?.(data) : undefined
    if (answer !== undefined) {
      if (answer !== '') this.send(answer)
      return
    }
    const event = typeof data === 'string' ? parseEvent(data) : undefined
    if (event) this.#options.onEvent(event, data.length)
    else {
      const message = `An event is a JSON object, sent as text, at most ${MAX_DEPTH} levels deep.`
      this.send(JSON.stringify(toErrorEvent(new EdgeError('bad_request', message))))
    }
  }
}
