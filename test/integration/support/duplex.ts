/**
 * A caller and a bridge (`talking-bridge.ts`) who both talk all the time, and an exact account of what each of them
 * lost: by the senders' counts, the receivers' counts and nothing else.
 */

import { eventually } from '../../../core/testing/check.ts'
import type { TestClient } from '../../peers/client.ts'
import type { TestEdge } from '../../peers/edge.ts'
import { onTick } from '../../peers/ticker.ts'
import { packetOf } from './numbered-packet.ts'

const PACKET_MS = 20

/** What became of one side's packets. */
export interface Way {
  readonly sent: number
  readonly received: number
  readonly lost: number
}

/** What came of it. */
export interface Account {
  readonly up: Way
  readonly down: Way
  /** The longest time between two packets that reached the caller. */
  readonly gapMs: number
}

/** Both talk from `begin` to `finish`; `using` ends it where a test fails in between. */
export class Duplex implements Disposable {
  readonly #client: TestClient
  readonly #transceiver: TestEdge
  readonly #stop: () => void
  readonly #startedAt = performance.now()
  #talking = true
  #sent = 0
  #lastAt = Number.NaN
  #gapMs = 0

  private constructor(client: TestClient, transceiver: TestEdge) {
    this.#client = client
    this.#transceiver = transceiver
    this.#stop = onTick((now) => this.#tick(now))
    client.socket.tap = (way, bytes, start) => {
      if (way === 'in' && bytes[start]! >= 128 && !isRtcp(bytes[start + 1]!)) this.#heard(performance.now())
      return true
    }
  }

  /** Begins; resolves when some packets have gone each way. */
  static async begin(client: TestClient, transceiver: TestEdge): Promise<Duplex> {
    const duplex = new Duplex(client, transceiver)
    client.sendEvent({ type: 'talk' })
    await duplex.exchange(5)
    return duplex
  }

  /** Packets that the caller has sent so far. */
  get sent(): number {
    return this.#sent
  }

  /** Packets of the caller's that have reached the transceiver. */
  async received(): Promise<number> {
    return (await this.#transceiver.sessions()).sessions[0]!.packetsReceived
  }

  /** Forgets the longest gap so far. */
  resetGap(): void {
    this.#gapMs = 0
  }

  /** Waits until `count` more packets have come each way. */
  async exchange(count: number, withinMs = 15_000): Promise<void> {
    const down = this.#client.audio.total + count
    const up = (await this.received()) + count
    await eventually(
      `${count} more packets came each way`,
      async () => this.#client.audio.total >= down && (await this.received()) >= up,
      withinMs,
    )
  }

  /** Both fall silent. The events that say so go the same way as the packets, behind the last of them. */
  async finish(): Promise<Account> {
    this.#talking = false
    this.#client.sendEvent({ type: 'hush' })
    const { packets } = await this.#client.events.find(({ type }) => type === 'hushed', 15_000)
    const sentDown = Number(packets)
    this.#stop()
    const received = await this.received()
    const heard = this.#client.audio.total
    return {
      up: { sent: this.#sent, received, lost: this.#sent - received },
      down: { sent: sentDown, received: heard, lost: sentDown - heard },
      gapMs: this.#gapMs,
    }
  }

  [Symbol.dispose](): void {
    this.#stop()
    this.#client.socket.tap = undefined
  }

  #heard(now: number): void {
    this.#gapMs = Math.max(this.#gapMs, now - this.#lastAt || 0)
    this.#lastAt = now
  }

  #tick(now: number): void {
    if (!this.#talking) return
    for (const due = (now - this.#startedAt) / PACKET_MS; this.#sent < due; this.#sent++) {
      this.#client.sendAudio(packetOf(this.#sent))
    }
  }
}

/** RFC 5761 §4. */
function isRtcp(second: number): boolean {
  return second >= 192 && second <= 223
}

/** One line of a measurement, in a form that can be quoted. */
export function gapLine({ gapMs, up, down }: Account, what: string): string {
  return `gap ${Math.round(gapMs)} ms, lost up ${up.lost} down ${down.lost} (${what})`
}
