/**
 * All calls of this transceiver: admission, their answers, the timer that drives them, and their end. What signaling
 * asks for (`CallService`) is answered here; what the socket receives goes through `dispatch.ts`.
 */

import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'
import { EdgeError, type Principal, randomBytes } from '../../core/index.ts'
import { noLosses } from './call.ts'
import { type CallOrigin, describeCall } from './describe-call.ts'
import { channelTerms, type MadeCall, makeCall } from './made-call.ts'
import { type Paced, PlayoutClock } from './media/pacer.ts'
import { MediaTotals } from './media-totals.ts'
import type { Negotiation } from './negotiation.ts'
import { Routes } from './routes.ts'
import { type Offer, parseOffer } from './sdp/offer.ts'
import { Session } from './session.ts'
import { startTrace } from './session-trace.ts'
import { type CallCounters, count, END_REASONS, type SessionsOptions } from './sessions-options.ts'
import { parseCallId, sameSecret } from './signaling/call-id.ts'
import {
  type CallDescription,
  type CallRequest,
  type CallService,
  callNotFound,
  type StartedCall,
} from './signaling/call-service.ts'
import { CallQuota } from './signaling/limits.ts'
import { mayReach } from './signaling/may-reach.ts'
import type { ReachedCall } from './signaling/reached-call.ts'
import type { TransceiverSocket } from './socket.ts'

/** How often sessions' timers are looked at. */
const TICK_MS = 25

/** How often each session does its housekeeping. */
const HOUSEKEEPING_MS = 1000

/** How long the last farewells may take through a relay in this process, which is closed next. */
const FAREWELL_MS = 20

interface Held extends CallOrigin {
  readonly session: Session
  readonly negotiation: Negotiation
  readonly secret: Uint8Array
}

/** The calls in being. */
export class Sessions implements CallService {
  readonly routes = new Routes<Session>(randomBytes(4).readInt32BE())
  readonly counters: CallCounters = { started: 0, ended: new Map(), refused: new Map(), lost: noLosses() }
  /** Of the calls that have ended; those that go on count for themselves. */
  readonly media = new MediaTotals()
  readonly #options: SessionsOptions
  readonly #socket: TransceiverSocket
  readonly #quota: CallQuota
  readonly #clock = new PlayoutClock({ onFault: (cause, member) => this.#fail(cause, member) })
  /** By the session's bytes in hex. */
  readonly #held = new Map<string, Held>()
  #timer: NodeJS.Timeout | undefined
  #housekeptAt = 0
  #draining = false
  #lastTurn: Promise<void> = Promise.resolve()

  constructor(options: SessionsOptions, socket: TransceiverSocket) {
    this.#options = options
    this.#socket = socket
    this.#quota = new CallQuota(options.limits)
  }

  /** How many calls there are. */
  get size(): number {
    return this.#held.size
  }

  /** The sessions, oldest first. */
  *[Symbol.iterator](): Iterator<Session> {
    for (const { session } of this.#held.values()) yield session
  }

  async create(request: CallRequest): Promise<StartedCall> {
    const askedAt = performance.now()
    await this.#turn()
    try {
      const replaced = this.#look(request.replaces, request.caller)?.session
      this.#admit(request.caller, replaced)
      const offer = parseOffer(request.sdp)
      const made = makeCall(this.#options, offer, request.channelId)
      replaced?.close('hang_up')
      this.#open(request, offer, made, askedAt)
      return { id: made.id, sdp: made.sdp }
    } catch (error) {
      count(this.counters.refused, error instanceof EdgeError ? error.code : 'internal')
      throw error
    }
  }

  hangUp(id: string, caller: Principal): void {
    this.#find(id, caller).session.end('hang_up')
  }

  describe(id: string, caller: Principal): CallDescription {
    const held = this.#find(id, caller)
    return describeCall(id, held.session, held, performance.now())
  }

  reach(id: string, caller: Principal): ReachedCall {
    const { session, negotiation } = this.#find(id, caller)
    const { restarts, listeners } = session
    const { mid } = negotiation
    const renegotiate = (offer: string): string => negotiation.answer(offer, restarts)
    return { restarts, listeners, renegotiate, mid, candidates: this.#options.advertise }
  }

  /** Takes no new calls from now on; resolves when the last has ended, or ends what is left at the deadline. */
  async drain(deadline: AbortSignal): Promise<void> {
    this.#draining = true
    if (this.#held.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onEmpty = resolve
    const endAll = (): void => {
      for (const session of this) session.end('draining')
    }
    if (deadline.aborted) endAll()
    else deadline.addEventListener('abort', endAll, { once: true })
    await promise
    deadline.removeEventListener('abort', endAll)
    await delay(FAREWELL_MS)
  }

  /** Ends every call at once and stops the timer. */
  close(): void {
    this.#draining = true
    for (const session of [...this]) session.close('shutdown')
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #onEmpty: (() => void) | undefined

  /** The call of this id, for its own caller alone. */
  #look(id: string | undefined, caller: Principal): Held | undefined {
    const named = id === undefined ? undefined : parseCallId(this.#options.codec, id)
    const held = named && this.#held.get(toHex(named.route.session))
    const opens = named !== undefined && sameSecret(held?.secret, named.secret)
    return held && opens && mayReach(caller, held.session.caller) ? held : undefined
  }

  #find(id: string, caller: Principal): Held {
    const held = this.#look(id, caller)
    if (!held) throw callNotFound()
    return held
  }

  /** One offer in each turn of the event loop: a crowd that arrives at once must not hold up the calls' audio. */
  #turn(): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(() => immediate())
    return this.#lastTurn
  }

  /** A call that takes another's place needs no room. */
  #admit(caller: Principal, replaced: Session | undefined): void {
    if (this.#draining) throw new EdgeError('draining', 'This edge is shutting down. Try again elsewhere.')
    if (replaced) return
    this.#quota.check(caller)
    if (this.#held.size < this.#options.maxCalls) return
    throw new EdgeError('too_many_calls', `All ${this.#options.maxCalls} lines are taken. Try again soon.`)
  }

  #open(request: CallRequest, offer: Offer, made: MadeCall, askedAt: number): void {
    const { bridge, codec, identity, connectMs, maxCallMs, onStarted } = this.#options
    const { route, local, secret, ssrc, cname, negotiation } = made
    const key = toHex(route.session)
    const trace = startTrace(this.#options, request, route.session, askedAt)
    const session: Session = new Session({
      call: {
        id: key,
        traceSession: route.session,
        caller: request.caller,
        counters: this.counters.lost,
        ...(request.model === undefined ? {} : { model: request.model }),
        ...(request.session === undefined ? {} : { session: request.session }),
      },
      offer,
      channel: channelTerms(request),
      local,
      ssrc,
      cname,
      bridge,
      opus: this.#options.opus,
      clock: this.#clock,
      dtls: identity.context,
      socket: this.#socket,
      trace,
      now: performance.now(),
      connectMs,
      maxCallMs,
      random: randomBytes,
      newUfrag: () => {
        const ufrag = codec.encode(route, 'ufrag')
        this.routes.addUfrag(ufrag, session)
        return ufrag
      },
      dropUfrag: (ufrag) => this.routes.removeUfrag(ufrag, session),
      onOpened: (path) => void this.routes.claim(path, session),
      onValidated: (path) => this.routes.confirm(path, session),
      onForgotten: (path) => this.routes.leave(path, session),
      onClosed: (reason, fault) => this.#onClosed(key, session, reason, fault),
    })
    this.#held.set(key, { session, negotiation, secret, model: request.model, createdAt: Date.now() })
    this.routes.addUfrag(local.ufrag, session)
    this.#quota.take(request.caller)
    this.counters.started++
    trace.offered()
    onStarted?.({ id: key, caller: request.caller.name, ip: request.caller.ip })
    this.#timer ??= setInterval(() => this.#tick(performance.now()), TICK_MS)
    void session.start()
  }

  #onClosed(key: string, session: Session, reason: string, fault: EdgeError | undefined): void {
    this.#held.delete(key)
    this.#quota.give(session.caller)
    this.routes.remove(session)
    const counted = END_REASONS.has(reason) ? reason : 'bridge_ended'
    count(this.counters.ended, counted)
    this.media.end(session.media.stats)
    const durationMs = Math.round(performance.now() - session.startedAt)
    this.#options.timings?.ended(counted, durationMs, session.media.stats)
    this.#options.onEnded({ id: key, caller: session.caller.name, reason, durationMs, fault })
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#onEmpty?.()
  }

  /** A call's audio failed in its slot. */
  #fail(cause: unknown, member: Paced): void {
    for (const { session } of this.#held.values()) if (session.media === member) session.fail(cause)
  }

  #tick(now: number): void {
    const housekeep = now - this.#housekeptAt >= HOUSEKEEPING_MS
    if (housekeep) this.#housekeptAt = now
    for (const { session } of this.#held.values()) {
      session.tick(now)
      if (housekeep) session.housekeep(now)
    }
  }
}

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
