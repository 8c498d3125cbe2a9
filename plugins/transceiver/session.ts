/**
 * One call's session: ICE, DTLS, SRTP, data channels, media and the bridge, composed (DESIGN §6). It owns all of them and frees all of them, once, whatever ends it first. It does no I/O of its own: datagrams come in
 * by the `receive…` methods, time by `tick`, and what it sends goes through the socket it is given.
 */

import { EdgeError, type Principal } from '../../core/index.ts'
import { Call } from './call.ts'
import { EventChannel } from './event-channel.ts'
import { IceAgent, type IceOutcome } from './ice/agent.ts'
import { clonePath, type Path, samePath } from './ice/path.ts'
import { MediaSession } from './media/media-session.ts'
import { SrtpSession } from './media/srtp.ts'
import { DtlsEndpoint, type SrtpKeys } from './peer/dtls.ts'
import type { OfferedData } from './sdp/offer.ts'
import { toBridgeFault } from './session-events.ts'
import type { SessionOptions, SessionState } from './session-options.ts'

/** RFC 7675 §5.1: consent expires this long after the client's last check. */
const CONSENT_MS = 30_000

/** A call from its offer to its end. */
export class Session {
  readonly id: string
  readonly caller: Principal
  readonly ice: IceAgent
  readonly media: MediaSession
  readonly startedAt: number
  state: SessionState = 'new'
  readonly #options: SessionOptions
  readonly #call: Call
  #dtls: DtlsEndpoint | undefined
  #srtp: SrtpSession | undefined
  #events: EventChannel | undefined
  #ending = false
  #now: number
  /** Where the datagram being handled came from; after it, where DTLS was last heard. */
  #dtlsPath: Path | undefined

  constructor(options: SessionOptions) {
    const { offer, bridge, clock, socket } = options
    this.#options = options
    this.id = options.id
    this.caller = options.caller
    this.#now = this.startedAt = options.now
    this.ice = new IceAgent({
      local: options.local,
      remote: offer.ice,
      random: options.random,
      handlers: {
        send: (bytes, start, end, path) => socket.send(bytes, start, end, path),
        onSelected: () => this.#onSelected(),
        onOpened: (path) => options.onOpened(path),
        onValidated: (path) => options.onValidated(path),
        onForgotten: (path) => options.onForgotten(path),
      },
    })
    this.media = new MediaSession({
      ssrc: options.ssrc,
      cname: options.cname,
      audio: offer.audio,
      format: bridge.audio,
      clock,
      sendRtp: (bytes, start, end) => this.#sendRtp(bytes, start, end),
      sendRtcp: (bytes, start, end) => this.#sendRtcp(bytes, start, end),
      onFrame: (frame) => this.#call.pushFrame(frame),
      onTelephoneEvent: (digit, durationMs) =>
        this.#call.pushEvent({ type: 'telephone_event', digit, duration_ms: durationMs }),
    })
    this.#call = new Call({
      id: options.id,
      traceSession: options.session,
      caller: options.caller,
      ...(options.model === undefined ? {} : { model: options.model }),
      ...(options.sessionConfig === undefined ? {} : { session: options.sessionConfig }),
      media: this.media,
      sendEvent: (event) => this.#events?.send(event) ?? false,
      onEnd: (reason) => this.end(reason),
    })
    options.trace.start('ice.connect')
  }

  /** Opens the bridge beside the answer; its end is the call's, its failure too. */
  async start(): Promise<void> {
    this.#options.trace.start('bridge')
    try {
      await this.#options.bridge.open(this.#call)
      this.end('bridge_ended')
    } catch (cause) {
      this.end('bridge_failed', toBridgeFault(cause))
    }
  }

  /** Takes a STUN message; the outcome is for counters. */
  receiveStun(now: number, bytes: Buffer, start: number, end: number, path: Path): IceOutcome {
    this.#now = now
    return this.ice.receiveStun(now, bytes, start, end, path)
  }

  /** Takes a DTLS datagram; true when it was certainly meant for this session. */
  receiveDtls(now: number, bytes: Buffer, start: number, end: number, path: Path): boolean {
    if (this.state === 'closed') return false
    this.#now = now
    this.ice.heard(path, end - start)
    if (!this.#dtls && this.#options.offer.answerSetup === 'active') return false
    if (this.#dtlsPath === undefined || !samePath(this.#dtlsPath, path)) this.#dtlsPath = clonePath(path)
    const dtls = this.#dtls ?? this.#openDtls()
    const fresh = dtls.receive(bytes, start, end, now)
    if (fresh) this.ice.authenticated(now, path)
    // A handshake's records prove nothing yet; where the client was shown to receive, they are its own.
    const { selected } = this.ice
    return fresh || (dtls.state === 'connecting' && !!selected && samePath(selected, path))
  }

  /** Takes an SRTP or SRTCP packet; true when it was authentic and new. */
  receiveMedia(now: number, bytes: Buffer, start: number, end: number, path: Path): boolean {
    const srtp = this.#srtp
    if (!srtp) return false
    const isRtcp = end - start > 1 && bytes[start + 1]! >= 192 && bytes[start + 1]! <= 223
    const plainEnd = isRtcp ? srtp.unprotectRtcp(bytes, start, end) : srtp.unprotectRtp(bytes, start, end)
    if (plainEnd < 0) return false
    this.#now = now
    this.ice.heard(path, end - start)
    if (srtp.newest) this.ice.authenticated(now, path)
    if (isRtcp) this.media.receiveRtcp(now, bytes, start, plainEnd)
    else {
      this.media.receiveRtp(now, bytes, start, plainEnd)
      this.#options.trace.once('audio.received')
    }
    return true
  }

  /** Drives retransmissions; cheap, called every 25 ms. */
  tick(now: number): void {
    this.#now = now
    this.ice.tick(now)
    if (this.#dtls && now >= this.#dtls.deadline) this.#dtls.tick(now)
  }

  /** Sends reports and ends what is overdue; called every second. */
  housekeep(now: number): void {
    const { connectMs, maxCallMs } = this.#options
    const age = now - this.startedAt
    if (this.state !== 'connected') {
      if (age > connectMs)
        this.end('connect_timeout', new EdgeError('connect_timeout', 'the client did not connect in time'))
      return
    }
    this.media.report(now)
    if (now - (this.ice.lastCheckAt ?? this.startedAt) > CONSENT_MS)
      this.close('peer_gone', new EdgeError('peer_gone', 'the client sends no checks any more'))
    else if (age > maxCallMs) this.end('max_call_duration')
  }

  /** Ends the call so that the client hears why: an event, then close_notify. */
  end(reason: string, fault?: EdgeError): void {
    if (this.state === 'closed' || this.#ending) return
    this.#ending = true
    const events = this.#events
    if (!events?.open) {
      this.close(reason, fault)
      return
    }
    if (fault) events.sendError(fault)
    events.send({ type: 'session.ended', reason })
    // The channel hands its last message to DTLS within this turn of the event loop.
    setImmediate(() => this.close(reason, fault))
  }

  /** Ends the call at once and frees everything. Idempotent. */
  close(reason: string, fault?: EdgeError): void {
    if (this.state === 'closed') return
    this.state = 'closed'
    this.#call.close(reason)
    this.media.close()
    this.#events?.close()
    this.#dtls?.close()
    this.#srtp?.close()
    this.#events = this.#dtls = this.#srtp = undefined
    this.#options.trace.finish(reason, fault !== undefined)
    this.#options.onClosed(reason, fault)
  }

  #onSelected(): void {
    this.#options.trace.end('ice.connect')
    if (this.state === 'new') this.state = 'connecting'
    if (!this.#dtls && this.#options.offer.answerSetup === 'active') this.#openDtls()
  }

  #openDtls(): DtlsEndpoint {
    const { offer, dtls, trace } = this.#options
    trace.start('dtls.handshake')
    this.#dtls = new DtlsEndpoint({
      role: offer.answerSetup === 'active' ? 'client' : 'server',
      fingerprints: offer.fingerprints,
      context: dtls,
      send: (datagram) => this.#sendDtls(datagram),
      onConnected: (keys) => this.#onConnected(keys),
      onMessage: (message) => this.#events?.receive(message),
      onClosed: (reason, failed) => {
        if (failed) this.close('dtls_failed', new EdgeError('dtls_failed', reason))
        else this.close('peer_closed')
      },
    })
    this.#dtls.start(this.#now)
    return this.#dtls
  }

  #onConnected(keys: SrtpKeys): void {
    const { offer, trace } = this.#options
    trace.end('dtls.handshake')
    this.state = 'connected'
    this.#srtp = new SrtpSession(keys)
    if (this.#dtlsPath) this.ice.validated(this.#now, this.#dtlsPath)
    if (offer.data) this.#events = this.#openEvents(offer.data)
    this.media.start()
  }

  #openEvents(offered: OfferedData): EventChannel {
    return new EventChannel({
      role: this.#options.offer.answerSetup === 'active' ? 'client' : 'server',
      offered,
      send: (packet) => void this.#dtls?.write(packet),
      onOpen: () => this.#call.channelOpen(),
      onEvent: (event) => this.#call.pushEvent(event),
      onClose: () => this.close('channel_closed'),
      onFault: (fault) => this.#options.trace.once(`data channel: ${fault}`),
    })
  }

  #sendDtls(datagram: Uint8Array): void {
    const path = this.ice.selected ?? this.#dtlsPath
    if (path && this.ice.maySend(path, datagram.length))
      this.#options.socket.send(datagram, 0, datagram.length, path)
  }

  #sendRtp(bytes: Buffer, start: number, end: number): void {
    this.#sendProtected(bytes, start, this.#srtp?.protectRtp(bytes, start, end) ?? -1)
    this.#options.trace.once('audio.sent')
  }

  #sendRtcp(bytes: Buffer, start: number, end: number): void {
    this.#sendProtected(bytes, start, this.#srtp?.protectRtcp(bytes, start, end) ?? -1)
  }

  #sendProtected(bytes: Buffer, start: number, end: number): void {
    const path = this.ice.selected
    if (path && end >= 0) this.#options.socket.sendInPlace(bytes, start, end, path)
  }
}
