/** A browser's call by way of a balancer, two relay processes and a transceiver process, and what it loses. */

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { eventually } from '../../core/testing/check.ts'
import type { Config } from '../integration/support/configs.ts'
import { relayConfig, SHARED_CODEC } from '../integration/support/two-relays.ts'
import { Balancer } from '../peers/balancer.ts'
import { type EdgeProcess, sharedSecrets, startRole } from '../peers/edge-processes.ts'
import { RelayProcess } from '../peers/relay-process.ts'
import { startChromium, type TestBrowser } from './chromium.ts'
import { call, complaintsOf, DEMO_SOURCE } from './demo-call.ts'
import { type Gap, startGap, stopGap } from './gap-meter.ts'
import { play, TUNE, toWav } from './tune.ts'

/** Packets each way that show that media flows. */
const FLOWING = 10

/** What one episode cost. */
export interface Cost extends Gap {
  /** The browser's packets that never came to the transceiver, by their RTP sequence numbers. */
  readonly lostUp: number
}

/** The parts; all are closed at the end of the scope. */
export class FailOverCall implements AsyncDisposable {
  readonly hop: Balancer
  readonly a: RelayProcess
  readonly b: RelayProcess
  readonly transceiver: EdgeProcess
  readonly page: Page
  readonly complaints: string[]
  readonly #open: AsyncDisposableStack

  private constructor(
    parts: Pick<FailOverCall, 'hop' | 'a' | 'b' | 'transceiver' | 'page' | 'complaints'>,
    open: AsyncDisposableStack,
  ) {
    this.hop = parts.hop
    this.a = parts.a
    this.b = parts.b
    this.transceiver = parts.transceiver
    this.page = parts.page
    this.complaints = parts.complaints
    this.#open = open
  }

  /** A call that is up by way of relay a: the tune goes in and comes back. */
  static async open(recovery?: Config): Promise<FailOverCall> {
    await using open = new AsyncDisposableStack()
    const hop = open.use(await Balancer.open())
    const a = open.use(await RelayProcess.start(relayConfig(hop.address, recovery)))
    const b = open.use(await RelayProcess.start(relayConfig(hop.address, recovery)))
    const transceiver = open.use(
      await startRole('transceiver', {
        ...sharedSecrets(),
        EARSHOT_ROUTING_KEY: SHARED_CODEC.keys[0]!.key,
        EARSHOT_ADVERTISE: String(hop.address),
      }),
    )
    hop.leadTo(a.address)
    const chromium: TestBrowser = open.use(await startChromium({ microphone: toWav(play(TUNE)) }))
    const page = await chromium.browser.newPage()
    const complaints = complaintsOf(page)
    await page.goto(`${transceiver.url}?raw`)
    await call(page)
    return new FailOverCall({ hop, a, b, transceiver, page, complaints }, open.move())
  }

  /** Measures what `what` costs: from before it until `then` has resolved and media flows both ways by `relay`. */
  async measure(relay: RelayProcess, what: () => unknown, then: () => Promise<unknown>): Promise<Cost> {
    const before = await this.#lostUp()
    await startGap(this.page, DEMO_SOURCE)
    await what()
    await then()
    await this.flows(relay)
    const gap = await stopGap(this.page, DEMO_SOURCE)
    return { ...gap, lostUp: (await this.#lostUp()) - before }
  }

  /** Waits until a check of the browser's has been answered: the next is more than two seconds away. */
  async checked(): Promise<void> {
    const { stun } = this.hop.counts.down
    await eventually('a check is answered', () => this.hop.counts.down.stun > stun, 20_000)
  }

  /** Waits until media flows both ways by this relay. */
  async flows(relay: RelayProcess): Promise<void> {
    const before = await relay.flow()
    await eventually(
      'media flows both ways',
      async () => {
        const now = await relay.flow()
        return now.up >= before.up + FLOWING && now.down >= before.down + FLOWING
      },
      20_000,
    )
  }

  /** By the recovered route alone, for checks are held: media flows, and only then may the browser check. */
  async assertBeforeCheck(relay: RelayProcess): Promise<void> {
    await this.flows(relay)
    assert.deepEqual((await relay.flow()).states, ['recovered'])
    assert.equal(await relay.metric('relay_flows', { state: 'confirmed' }), 0)
    await this.checkAgain(relay)
  }

  /** The browser may check, and that brings it back. */
  async checkAgain(relay: RelayProcess): Promise<void> {
    this.hop.holdsChecks = false
    await this.#confirmed(relay)
  }

  /** Nothing flows before the browser may check, and everything after. */
  async assertByCheck(relay: RelayProcess): Promise<void> {
    await eventually('packets find no route', async () => (await relay.noRoute()) >= FLOWING, 20_000)
    assert.deepEqual((await relay.flow()).states, [])
    await this.checkAgain(relay)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open.disposeAsync()
  }

  #confirmed(relay: RelayProcess): Promise<void> {
    return eventually('a check confirms it', async () => (await relay.flow()).states.includes('live'), 20_000)
  }

  async #lostUp(): Promise<number> {
    const { sessions } = await this.transceiver.ask<{ sessions: { lost: number }[] }>('/transceiver/sessions')
    assert.equal(sessions.length, 1, 'the call goes on')
    return sessions[0]!.lost
  }
}

/** One line of a measurement, in a form that can be quoted. */
export function costLine({ gapMs, silentMs, lostUp, lost }: Cost, what: string): string {
  const silent = Math.round(silentMs)
  return `gap ${Math.round(gapMs)} ms, lost up ${lostUp} down ${lost} (${what}; Chromium, ${silent} ms of it silent)`
}
