/**
 * Events over the data channel: JSON objects as text, both ways. What is no event is answered with an error event and
 * goes no further.
 */

import { EdgeError, type JsonObject } from '../../core/index.ts'
import { DataChannels } from './peer/data-channels.ts'
import type { OfferedData } from './sdp/offer.ts'
import { parseEvent, toErrorEvent } from './session-events.ts'

/** What the channel stands on, and whom it tells. */
export interface EventChannelOptions {
  readonly role: 'server' | 'client'
  readonly offered: OfferedData
  /** An SCTP packet for the peer. */
  send(packet: Uint8Array): void
  onOpen(): void
  onEvent(event: JsonObject): void
  /** The peer closed its channel. */
  onClose(): void
  onFault(fault: string): void
}

/** A session's events. Close it. */
export class EventChannel {
  readonly #channels: DataChannels

  constructor(options: EventChannelOptions) {
    this.#channels = new DataChannels({
      role: options.role,
      remotePort: options.offered.sctpPort,
      maxMessageSize: options.offered.maxMessageSize,
      send: (packet) => options.send(packet),
      onOpen: () => options.onOpen(),
      onMessage: (_label, data) => {
        const event = typeof data === 'string' ? parseEvent(data) : undefined
        if (event) options.onEvent(event)
        else this.sendError(new EdgeError('bad_request', 'An event is a JSON object, sent as text.'))
      },
      onClose: () => options.onClose(),
      onFault: (fault) => options.onFault(fault),
    })
  }

  /** Whether events can be sent. */
  get open(): boolean {
    return this.#channels.open
  }

  /** Takes an SCTP packet. */
  receive(packet: Buffer): void {
    this.#channels.receive(packet)
  }

  /** Sends an event; false when the channel is not open, or its queue is full. */
  send(event: JsonObject): boolean {
    return this.#channels.send(JSON.stringify(event))
  }

  /** Tells the client of a fault. */
  sendError(fault: EdgeError): void {
    this.send(toErrorEvent(fault))
  }

  /** Frees everything. Idempotent. */
  close(): void {
    this.#channels.close()
  }
}
