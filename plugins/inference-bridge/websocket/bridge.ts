/** A bridge to any backend that speaks this plugin's small WebSocket protocol. */

import {
  type AudioFormat,
  BackendCalls,
  type BackendContext,
  type BridgeCall,
  connectWebSocket,
  type InferenceBridge,
} from '../../../core/index.ts'
import { Conversation } from './conversation.ts'
import type { WebSocketOptions } from './options.ts'

/** Connects once a call. */
export class WebSocketBridge implements InferenceBridge {
  readonly audio: AudioFormat
  readonly #options: WebSocketOptions
  readonly #calls: BackendCalls

  constructor(options: WebSocketOptions, context: BackendContext) {
    this.audio = { pcm16: options.rate }
    this.#options = options
    this.#calls = new BackendCalls(context, 'earshot.websocket_bridge', options.url)
  }

  /** Serves one call. Rejects with EdgeError `bridge_failed` or `bridge_timeout`. */
  open(call: BridgeCall): Promise<void> {
    const url = new URL(this.#options.url)
    return this.#calls.serve(
      call,
      () => connectWebSocket({ ...this.#options, url }, call.signal),
      (socket) => new Conversation(socket, call, this.#options).run(),
    )
  }
}
