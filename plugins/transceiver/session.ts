/**
 * One call's session: ICE, DTLS, SRTP, data channels, media and the bridge, composed. It owns all of them
 * and frees all of them, once, whatever ends it first. It does no I/O of its own: datagrams come in by the `receive…`
 * methods, time by `tick`, and what it sends goes through the socket it is given.
 */

import { EdgeError, type Principal } from '../../core/index.ts'
import { Call } from './call.ts'
import { DtlsLink } from './dtls-link.ts'
import { EventChannel } from './event-channel.ts'
import { Farewell } from './farewell.ts'
import type { IceAgent, IceOutcome } from './ice/agent.ts'
import type { Path } from './ice/path.ts'
import type { IceRestarts } from './ice/restarts.ts'
import { Listeners } from './listeners.ts'
import { MediaSession } from './media/media-session.ts'
import type { SrtpKeys } from './media/srtp-keys.ts'
import type { OfferedData } from './sdp/offer.ts'
import { SecureMedia } from './secure-media.ts'
import { telephoneEvent, toBridgeFault } from './session-events.ts'
import { sessionIce } from './session-ice.ts'
import type { SessionOptions, SessionState } from './session-options.ts'

/** RFC 7675 §5.1: consent expires this long after the client's last check. */
const CONSENT_MS = 30_000

/** A call from its offer to its end. */
export class Session {
  readonly id: string
  readonly caller: Principal
  readonly ice: IceAgent
  readonly restarts: IceRestarts
  readonly listeners = new Listeners((event, characters) => this.#call.pushEvent(event, characters))
  readonly media: MediaSession
  readonly startedAt: number
  state: SessionState = 'new'
  readonly #options: SessionOptions
  readonly #call: Call
  readonly #dtls: DtlsLink
  #secure: SecureMedia | undefined
  #events: EventChannel | undefined
  #now: number
  #consentUntil = 0
  #farewell: Farewell | undefined

  constructor(options: SessionOptions) {
    const { offer } = options
    this.#options = options
    this.id = options.call.id
    this.caller = options.call.caller
    this.#now = this.startedAt = options.now
    const { agent, restarts } = sessionIce(
      options,
      () => this.#isClosed,
      (path) => this.#onSelected(path),
    )
    this.ice = agent
    this.restarts = restarts
    this.#dtls = new DtlsLink({
      offer,
      context: options.dtls,
      ice: this.ice,
      socket: options.socket,
      onBegun: () => options.trace.start('dtls.handshake'),
      onConnected: (keys) => this.#onConnected(keys),
      onMessage: (message) => this.#events?.receive(this.#now, message),
      onClosed: (reason, failed) =>
        failed ? this.close('dtls_failed', new EdgeError('dtls_failed', reason)) : this.close('peer_closed'),
    })
    this.media = new MediaSession({
      ssrc: options.ssrc,
      cname: options.cname,
      audio: offer.audio,
      format: options.bridge.audio,
      opus: options.opus,
      clock: options.clock,
      sendRtp: (bytes, start, end) => this.#secure?.sendRtp(bytes, start, end),
      sendRtcp: (bytes, start, end) => this.#secure?.sendRtcp(bytes, start, end),
      onFrame: (frame) => this.#call.pushFrame(frame),
      onTelephoneEvent: (digit, ms) => this.#call.pushEvent(telephoneEvent(digit, ms)),
    })
    this.#call = new Call({
      ...options.call,
      media: this.media,
      // Where no channel will ever be, nothing is kept for it.
      sendEvent: (text) => offer.data === undefined || (this.#events?.send(text) ?? false),
      onSend: (text) => this.listeners.tell(text),
      onEnd: (reason) => this.#endByBridge(reason),
      onOpened: () => options.trace.end('bridge.open'),
    })
  }

  /** Opens the bridge beside the answer; its end is the call's, its failure too. */
  async start(): Promise<void> {
    this.#options.trace.start('ice.connect').start('bridge').start('bridge.open')
    try {
      await this.#options.bridge.open(this.#call)
      this.#endByBridge('bridge_ended')
    } catch (cause) {
      this.#endByBridge('bridge_failed', toBridgeFault(cause))
    }
  }

  /** Takes a STUN message; the outcome is for counters. */
  receiveStun(now: number, bytes: Buffer, start: number, end: number, path: Path): IceOutcome {
    if (this.#isClosed) return 'ignored'
    this.#now = now
    return this.ice.receiveStun(now, bytes, start, end, path)
  }

  /** Takes a DTLS datagram; true when it was certainly meant for this session. */
  receiveDtls(now: number, bytes: Buffer, start: number, end: number, path: Path): boolean {
    this.#now = now
    return this.#dtls.receive(now, bytes, start, end, path)
  }

  /** Takes an SRTP or SRTCP packet; true when it was authentic and new. */
  receiveMedia(now: number, bytes: Buffer, start: number, end: number, path: Path): boolean {
    try {
      return this.#secure?.receive(now, bytes, start, end, path) ?? false
    } catch (cause) {
      this.fail(cause)
      return true
    }
  }

  /** Drives retransmissions, consent and a farewell that takes its time; cheap, called every 25 ms. */
  tick(now: number): void {
    this.#now = now
    this.ice.tick(now)
    this.#dtls.tick(now)
    if (this.state !== 'connected') return
    if (now >= this.#consentUntil) this.#renewConsent(now)
    if (this.#farewell) this.#leave(this.#farewell)
    else if (this.#call.keepsEvents) this.#call.sendKept()
  }

  /** Sends reports and ends what is overdue; called every second. */
  housekeep(now: number): void {
    const { connectMs, maxCallMs } = this.#options
    const age = now - this.startedAt
    if (this.state === 'connected') {
      this.media.report(now)
      if (age > maxCallMs) this.end('max_call_duration')
    } else if (age > connectMs) {
      this.end('connect_timeout', new EdgeError('connect_timeout', 'the client did not connect in time'))
    }
  }

  /** Ends the call so that the client hears why: an event, then close_notify. At once when no event can be sent. */
  end(reason: string, fault?: EdgeError): void {
    if (this.#isClosed) return
    const farewell = this.#stop(reason, fault)
    if (this.#events?.open) this.#leave(farewell)
    else this.close(reason, fault)
  }

  /** Something of ours failed: this call ends, and no other. */
  fail(cause: unknown): void {
    this.end('internal', new EdgeError('internal', 'the call failed', { cause }))
  }

  /** Ends the call at once and frees everything. Idempotent; the first reason that was given counts. */
  close(reason: string, fault?: EdgeError): void {
    if (this.#isClosed) return
    this.state = 'closed'
    const end = this.#farewell ?? { reason, fault }
    this.#call.close(end.reason)
    this.listeners.end(end.reason, end.fault)
    this.media.close()
    this.#events?.close()
    this.#dtls.close()
    this.#secure?.close()
    this.#events = this.#secure = undefined
    this.#options.trace.finish(end.reason, end.fault !== undefined)
    this.#options.onClosed(end.reason, end.fault)
  }

  /** Asked anew each time: much that a session calls may close it. */
  get #isClosed(): boolean {
    return this.state === 'closed'
  }

  /** The bridge is done with the call. A client that is still on its way is waited for, so that it hears why. */
  #endByBridge(reason: string, fault?: EdgeError): void {
    if (this.#isClosed || this.#farewell) return
    this.#options.trace.end('bridge', fault?.code)
    const farewell = this.#stop(reason, fault)
    if (this.state === 'connected') this.#leave(farewell)
  }

  /** Nobody talks any more: the bridge is told, audio ends, and what the client will hear is settled. */
  #stop(reason: string, fault: EdgeError | undefined): Farewell {
    if (this.#farewell) return this.#farewell
    this.#options.trace.start('call.end')
    const farewell = new Farewell(reason, fault, this.#options.offer.data && this.#call.takeKept())
    this.#farewell = farewell
    if (this.state === 'connected') farewell.begin(this.#now)
    this.#call.close(reason)
    this.listeners.end(reason, fault)
    this.media.close()
    return farewell
  }

  #leave(farewell: Farewell): void {
    const hasSaid = farewell.say(this.#events)
    if (farewell.isOver(this.#now, this.#events)) this.close(farewell.reason, farewell.fault)
    // What the channel has just taken it hands to DTLS within this turn of the event loop, if it can at all.
    else if (hasSaid) setImmediate(() => this.#leave(farewell))
  }

  /** RFC 7675 §5.1: without consent nothing is sent any more, not even a goodbye. */
  #renewConsent(now: number): void {
    this.#consentUntil = (this.ice.lastCheckAt ?? this.startedAt) + CONSENT_MS
    if (now < this.#consentUntil) return
    this.#secure?.close()
    this.#dtls.mute()
    this.close('peer_gone', new EdgeError('peer_gone', 'the client sends no checks any more'))
  }

  #onSelected(path: Path): void {
    this.#options.trace.selected(path)
    if (this.state === 'new') this.state = 'connecting'
    this.#dtls.begin(this.#now)
  }

  #onConnected(keys: SrtpKeys): void {
    const { ice, media } = this
    const { offer, trace, socket } = this.#options
    trace.end('dtls.handshake')
    this.#secure = new SecureMedia({ keys, ice, dtls: this.#dtls, socket, media, trace })
    this.state = 'connected'
    if (offer.data) this.#events = this.#openEvents(offer.data)
    media.start()
    if (this.#farewell) this.#leave(this.#farewell.begin(this.#now))
  }

  #openEvents(offered: OfferedData): EventChannel {
    return new EventChannel({
      role: this.#dtls.role,
      offered,
      ...this.#options.channel,
      send: (packet) => void this.#dtls.write(packet),
      onOpen: () => (this.#farewell ? this.#leave(this.#farewell) : this.#call.sendKept()),
      onEvent: (event, characters) => this.#call.pushEvent(event, characters),
      onClose: () => this.close('channel_closed'),
      onFault: (fault) => this.#options.trace.once(`data channel: ${fault}`),
    })
  }
}
