/** A call of a test client through a whole edge to a scripted Realtime backend, and what is left when it is over. */

import assert from 'node:assert/strict'
import { DtlsConnection, type JsonObject } from '../../../core/index.ts'
import { eventually } from '../../../core/testing/check.ts'
import { opusCounters } from '../../../plugins/transceiver/media/opus.ts'
import { TestClient } from '../../peers/client.ts'
import { startEdge, type TestEdge } from '../../peers/edge.ts'
import { type BackendOptions, RealtimeBackend } from '../../peers/realtime-backend.ts'
import type { BackendConversation } from '../../peers/realtime-backend-conversation.ts'
import { edgeConfig } from './configs.ts'
import { sendPaced, whistle } from './tones.ts'

/** 20 ms of nothing, as Opus has it: SILK's narrowband, mono, without a frame. */
const SILENCE = Buffer.from([0x08])
const PACKET_MS = 20

/** A call under way. Finish it: `await using`. */
export class RealtimeCall implements AsyncDisposable {
  readonly edge: TestEdge
  readonly backend: RealtimeBackend
  client!: TestClient
  peer!: BackendConversation

  private constructor(edge: TestEdge, backend: RealtimeBackend) {
    this.edge = edge
    this.backend = backend
  }

  /** Starts a backend by a script, and an edge whose bridge has these options beside. */
  static async start(script: BackendOptions = {}, options: object = {}): Promise<RealtimeCall> {
    const backend = await RealtimeBackend.start(script)
    const use = './plugins/inference-bridge/openai-realtime/index.ts'
    const input = { turn_detection: { silence_duration_ms: 200 } }
    const bridge = {
      use,
      options: { url: backend.url, model: 'scripted', session: { audio: { input } }, ...options },
    }
    return new RealtimeCall(await startEdge({ config: edgeConfig({ bridge }) }), backend)
  }

  /** Calls; resolves when the call is up and the backend has the connection. */
  async connect(): Promise<this> {
    this.client = await TestClient.connect(this.edge.post)
    this.peer = await this.backend.conversations.take()
    return this
  }

  /** Calls, and waits for `session.created`. */
  static async begin(script: BackendOptions = {}, options: object = {}): Promise<RealtimeCall> {
    const call = await (await RealtimeCall.start(script, options)).connect()
    assert.equal((await call.client.events.take()).type, 'session.created')
    return call
  }

  /** The caller whistles. */
  whistle(ms = 300): Promise<void> {
    return sendPaced(this.client, whistle([{ hertz: 600, durationMs: ms }]))
  }

  /** The caller is silent, and sends that. */
  silence(ms = 300): Promise<void> {
    return sendPaced(
      this.client,
      Array.from({ length: ms / PACKET_MS }, () => SILENCE),
    )
  }

  /** Waits for an event on the data channel, whatever comes before. */
  until(type: string, withinMs?: number): Promise<JsonObject> {
    return this.client.events.find((event) => event.type === type, withinMs)
  }

  /** The caller is told why the call failed, and it ends. Nothing of the backend's address is said. */
  async assertTold(code: string): Promise<void> {
    const error = await this.client.events.find((event) => code === codeOf(event))
    assert.partialDeepStrictEqual(error, { error: { type: 'server_error' } })
    assert.doesNotMatch(JSON.stringify(error), /127\.0\.0\.1|ws:/)
    assert.deepEqual(await this.client.events.take(), { type: 'session.ended', reason: 'bridge_failed' })
    assert.equal(await this.client.ended, 'close_notify')
  }

  /** Ends what is left, and sees that nothing stays: no session, no connection, no codec. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.client?.close()
      await this.edge.untilIdle()
      await eventually('no connection to the backend is left', () => this.backend.open === 0)
    } finally {
      await this.edge.close()
      await this.backend.close()
    }
    assert.equal(DtlsConnection.live, 0)
    assert.deepEqual([opusCounters.decoders, opusCounters.encoders], [0, 0])
  }
}

function codeOf({ type, error }: JsonObject): unknown {
  const isError = type === 'error' && typeof error === 'object' && error !== null && !Array.isArray(error)
  return isError ? error.code : undefined
}
