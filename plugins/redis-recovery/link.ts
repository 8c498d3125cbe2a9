/**
 * The connection's life: it is made in the background, made again for ever, and the log says once that it is away,
 * with the reason, and once that it is back.
 */

import type { Context } from '../../core/index.ts'
import type { Client } from './client.ts'
import { type Fault, toFault } from './fault.ts'
import { backOff } from './pure/back-off.ts'
import { Outage, type Side } from './pure/outage.ts'

const LOOK_MS = 250

/** How ioredis tells of an answer that no command is there for. */
const UNASKED = 'Command queue state error'

/** A client that is kept connected. */
export class Link {
  readonly client: Client
  readonly outage = new Outage()
  readonly #log: Context['log']
  readonly #where: string
  readonly #onReady: () => void
  readonly #watch: NodeJS.Timeout
  #isClosed = false
  #wasReady = false
  #attempts = 0
  #again: NodeJS.Timeout | undefined
  #lastFault: Fault | undefined
  readonly #silenceMs: number
  #silentSince: number | undefined

  /**
   * Begins to connect. `onReady` runs each time that commands can be sent again, `onLost` each time that a connection was
   * lost or could not be made; `where` is for the log; after `silenceMs` without any answer to what was asked the
   * connection is made anew.
   */
  constructor(
    client: Client,
    options: {
      log: Context['log']
      where: string
      silenceMs: number
      onReady: () => void
      onLost?: () => void
    },
  ) {
    this.client = client
    this.#silenceMs = options.silenceMs
    this.#log = options.log
    this.#where = options.where
    this.#onReady = options.onReady
    client.on('ready', () => this.#ready())
    client.on('error', (error: unknown) => this.#failed(toFault(error)))
    client.on('close', () => this.#gone())
    client.on('end', () => this.#ended())
    // A cluster tells of its nodes' connections apart: the whole is lost with the last of them.
    for (const lost of ['close', 'end', 'node error', '-node']) client.on(lost, () => options.onLost?.())
    this.#watch = setInterval(() => this.#look(), LOOK_MS).unref()
    this.#connect()
  }

  /** Whether a command can be sent. */
  get isReady(): boolean {
    return this.client.status === 'ready'
  }

  /** A command of this side was answered. */
  worked(side: Side): void {
    this.#silentSince = undefined
    this.outage.worked(performance.now(), side)
  }

  /** A command of this side failed. */
  failed(side: Side, fault: Fault): void {
    if (fault.outcome !== 'refused') this.#silent()
    // Why a connection was lost is what its own events say.
    if (fault.outcome === 'lost') this.#lost(fault.reason)
    else this.#tell(fault.outcome === 'refused' ? side : 'link', fault)
  }

  /** Disconnects at once. */
  close(): void {
    this.#isClosed = true
    clearInterval(this.#watch)
    clearTimeout(this.#again)
    this.client.disconnect()
  }

  #connect(): void {
    // What goes wrong comes as an event too.
    this.client.connect().catch(() => {})
  }

  #ready(): void {
    if (this.#isClosed) return
    this.#attempts = 0
    this.#lastFault = undefined
    this.worked('link')
    if (!this.#wasReady && !this.outage.isDown) this.#log.info({ redis: this.#where }, 'redis is connected')
    this.#wasReady = true
    this.#onReady()
  }

  #failed(fault: Fault): void {
    this.#lastFault = fault
    this.#tell('link', fault)
    // Who answers what was not asked may go on for ever, and each of these answers takes our time.
    if (this.isReady && fault.reason.startsWith(UNASKED)) this.client.disconnect(true)
  }

  /** Most often an error came first and said why. */
  #gone(): void {
    if (this.#lastFault) this.#tell('link', this.#lastFault)
    else this.#lost('the connection was closed')
  }

  /**
   * A connection on which bytes come but no answers is of no use either, nor one on which ioredis sends nothing any more
   * (a server put it into subscriber mode); no socket time-out ends these.
   */
  #silent(): void {
    const now = performance.now()
    this.#silentSince ??= now
    if (now - this.#silentSince < this.#silenceMs || !this.isReady) return
    this.#silentSince = undefined
    this.client.disconnect(true)
  }

  /** In an outage it is no news: it may be ourselves who connect anew. */
  #lost(reason: string): void {
    this.#tell('link', { kind: this.outage.isDown ? undefined : 'unreachable', reason })
  }

  /** ioredis gives up where it cannot even begin, as when no sentinel answers. */
  #ended(): void {
    if (this.#isClosed || this.#again) return
    const wait = backOff(++this.#attempts, Math.random())
    this.#again = setTimeout(() => {
      this.#again = undefined
      this.#connect()
    }, wait).unref()
  }

  #tell(side: Side, { kind, reason }: { readonly kind: string | undefined; readonly reason: string }): void {
    if (this.#isClosed) return
    const news = this.outage.failed(performance.now(), side, kind)
    if (news === undefined) return
    const fields = { redis: this.#where, reason }
    if (news === 'down') {
      this.#log.warn(fields, 'redis is away: calls go on, a restarted relay waits for their next STUN check')
    } else this.#log.warn(fields, 'redis is still away, for another reason')
  }

  #look(): void {
    const awayMs = this.outage.over(performance.now())
    if (awayMs !== undefined) {
      this.#log.info({ redis: this.#where, awayMs: Math.round(awayMs) }, 'redis is back')
    }
  }
}
