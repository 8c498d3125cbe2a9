/** A caller who speaks over every answer, and how long the answer goes on then. */

import type { JsonObject } from '../../../core/index.ts'
import { TestClient } from '../../peers/client.ts'
import type { Post } from '../../peers/signaling.ts'
import { onTick } from '../../peers/ticker.ts'

/** Where an answer was cut: the number of its last packet, counted from the call's first. */
interface Interruption {
  readonly spokeAt: number
  /** Packets that had come when the answer began. */
  readonly before: number
}

/** What a caller sends, each packet 20 ms. */
export interface Voice {
  readonly speech: Buffer
  readonly silence: Buffer
}

const PACKET_MS = 20
/** How long it speaks: enough to be heard, too short to be answered before it is silent again. */
const SPEAKS_MS = 100
/** How much of an answer it listens to, in packets. */
const LISTENS = 20

/** One call. `interrupt` is to be called again and again; then `close`. */
export class InterruptingCaller {
  readonly client: TestClient
  readonly #voice: Voice
  readonly #stop: () => void
  /** When each packet came. */
  readonly #cameAt: number[] = []
  #sent = 0
  #speaks = 0
  #spokeAt = 0
  readonly #startedAt = performance.now()

  private constructor(client: TestClient, voice: Voice) {
    this.client = client
    this.#voice = voice
    const { audio } = client
    const push = audio.push.bind(audio)
    audio.push = (packet) => {
      this.#cameAt.push(performance.now())
      push(packet)
    }
    this.#stop = onTick((now) => this.#tick(now))
  }

  /** Calls. */
  static async connect(post: Post, voice: Voice): Promise<InterruptingCaller> {
    return new InterruptingCaller(await TestClient.connect(post), voice)
  }

  /**
   * Asks for an answer, listens to some of it and speaks: the milliseconds from when the first packet of speech left until
   * the last packet of the answer came; 0 when that had come before.
   */
  async interrupt(): Promise<number> {
    const { client } = this
    const before = this.#cameAt.length
    client.sendEvent({ type: 'response.create' })
    await this.#until('output_audio_buffer.started')
    while (this.#cameAt.length < before + LISTENS) await client.audio.takeMany(1)
    this.#speaks = SPEAKS_MS / PACKET_MS
    // Under load the one may come before the other.
    const told = await this.#until('conversation.item.truncated', 'input_audio_buffer.speech_stopped')
    const truncated = told.find(({ type }) => type === 'conversation.item.truncated')
    return this.#lastOf({ spokeAt: this.#spokeAt, before }, Number(truncated?.audio_end_ms))
  }

  /** Hangs up. */
  async close(): Promise<void> {
    this.#stop()
    await this.client.close()
  }

  /** Waits for events of all these types, in any order; gives all that came. */
  async #until(...types: string[]): Promise<JsonObject[]> {
    const came: JsonObject[] = []
    while (!types.every((wanted) => came.some(({ type }) => type === wanted)))
      came.push(await this.client.events.take(20_000))
    return came
  }

  #lastOf({ spokeAt, before }: Interruption, endMs: number): number {
    const cameAt = this.#cameAt[before + Math.ceil(endMs / PACKET_MS) - 1]
    if (cameAt === undefined) throw new Error(`the packet that ends at ${endMs} ms never came`)
    return Math.max(0, cameAt - spokeAt)
  }

  #tick(now: number): void {
    for (const due = (now - this.#startedAt) / PACKET_MS; this.#sent < due; this.#sent++) {
      const { speech, silence } = this.#voice
      if (this.#speaks === SPEAKS_MS / PACKET_MS) this.#spokeAt = performance.now()
      const speaks = this.#speaks > 0
      if (speaks) this.#speaks--
      this.client.sendAudio(speaks ? speech : silence)
    }
  }
}
