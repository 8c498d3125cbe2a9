/** A bridge between a fake call and a scripted backend. */

import assert from 'node:assert/strict'
import { Value } from 'typebox/value'
import type { AudioFrame, InferenceBridge } from '../../../../../core/index.ts'
import { eventually } from '../../../../../core/testing/check.ts'
import { FakeCall, type FakeCallOptions } from '../../../../../core/testing/fake-call.ts'
import { pluginContext } from '../../../../../core/testing/plugin-context.ts'
import type { RecordedSpan } from '../../../../../core/testing/span-log.ts'
import { RealtimeBridge } from '../../../../../plugins/inference-bridge/openai-realtime/bridge.ts'
import { Options } from '../../../../../plugins/inference-bridge/openai-realtime/options.ts'
import { type BackendOptions, RealtimeBackend } from '../../../../peers/realtime-backend.ts'
import type { BackendConversation } from '../../../../peers/realtime-backend-conversation.ts'

/** The format of all of them. */
export const PCM = { pcm16: 24_000 } as const

/** The n-th 20 ms of a caller who says nothing. */
export function quiet(n: number): AudioFrame {
  return { data: new Uint8Array(960), durationMs: 20, timestampMs: 20 * n }
}

/** A bridge to a backend, with options beside. */
export function bridgeTo(
  url: string,
  options: object = {},
  context = pluginContext().context,
): InferenceBridge {
  const complete = Value.Parse(Options, Value.Default(Options, { url, model: 'any', ...options }))
  return new RealtimeBridge(complete, context)
}

/** A call under way: with its backend, until the end of the scope. */
export class Rig implements AsyncDisposable {
  readonly backend: RealtimeBackend
  readonly call: FakeCall
  readonly opened: Promise<void>
  peer!: BackendConversation

  readonly spans: readonly RecordedSpan[]

  private constructor(backend: RealtimeBackend, options: object, call: FakeCallOptions) {
    const { context, spans } = pluginContext()
    this.backend = backend
    this.spans = spans
    this.call = new FakeCall(PCM, call)
    this.opened = bridgeTo(backend.url, options, context).open(this.call)
    this.opened.catch(() => {})
  }

  static async start(
    script: BackendOptions = {},
    options: object = {},
    call: FakeCallOptions = {},
  ): Promise<Rig> {
    const rig = new Rig(await RealtimeBackend.start(script), options, call)
    rig.peer = await rig.backend.conversations.take()
    return rig
  }

  /** Types of the events that the client got. */
  get told(): unknown[] {
    return this.call.sent.map(({ type }) => type)
  }

  async untilTold(type: string): Promise<void> {
    await eventually(`the client is told ${type}`, () => this.told.includes(type))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.call.close()
    await this.opened.catch(() => {})
    await eventually('no connection is left', () => this.backend.open === 0)
    await this.backend.close()
    assert.deepEqual(this.call.breaches, [])
  }
}
