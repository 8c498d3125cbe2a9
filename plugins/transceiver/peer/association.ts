/**
 * One SCTP association over DTLS (RFC 8261): werift's handshake and sending half, our receiving half, and a guard round
 * every way in. Nothing throws or rejects out of it, it has one timer at most, and what it holds is bounded.
 *
 * What it mends in werift: TSNs sorted as strings, no back-off and no end of retransmission, an INIT that resets a live
 * association, SACKs for what was never sent, a closed window that is never probed, resets handled before the data ahead
 * of them, six timers.
 */

import { CHUNK, guardSctp } from './sctp-guard.ts'
import { type Receipt, SctpInbound } from './sctp-inbound.ts'
import { SctpOutbound } from './sctp-outbound.ts'
import { guardResets } from './sctp-resets.ts'
import { guardSacks } from './sctp-sacks.ts'
import { replaceTimers } from './sctp-timers.ts'
import { SharedTimer } from './shared-timer.ts'
import { isInit, loadWeriftSctp, STATE, type WeriftChunk, type WeriftSctp } from './werift-private.ts'

/** 1200 bytes less a DTLS 1.2 AES-GCM record's 37, rounded down to SCTP's four. */
const SCTP_MTU = 1160
const LOCAL_PORT = 5000
const LIMITS = Object.freeze({ window: 524_288, fragments: 4096, streams: 64 })
const MAX_PENDING = 256

/** What an association needs and whom it tells. */
export interface AssociationOptions {
  /** Sends the INIT; else waits for the peer's. Both sides may. */
  readonly initiate: boolean
  readonly remotePort: number
  readonly maxMessageSize: number
  send(packet: Uint8Array): void
  onEstablished(): void
  onMessage(streamId: number, protocol: number, data: Buffer): void
  /** Streams that one side has reset. */
  onStreamsReset(streamIds: readonly number[]): void
  /** The streams that have a channel. */
  streamIds(): number[]
  /** The association is over, by the peer or by silence; not after `close`. */
  onClosed(): void
  onFault(reason: string): void
}

/** The association. `close` it. */
export class Association {
  readonly #options: AssociationOptions
  readonly #sctp: WeriftSctp
  readonly #inbound: SctpInbound
  readonly #outbound: SctpOutbound
  readonly #timer = new SharedTimer()
  readonly #pending: Buffer[] = []
  #draining = false
  #closed = false
  #wasEstablished = false

  constructor(options: AssociationOptions) {
    this.#options = options
    this.#inbound = new SctpInbound(
      { ...LIMITS, messageSize: options.maxMessageSize },
      (streamId, protocol, data) => {
        if (!this.#closed) options.onMessage(streamId, protocol, data)
      },
    )
    this.#outbound = new SctpOutbound({ ...options, localPort: LOCAL_PORT, mtu: SCTP_MTU })
    const { SCTP } = loadWeriftSctp()
    this.#sctp = new SCTP({ send: async () => {}, close() {} }, LOCAL_PORT, { mtu: SCTP_MTU })
    replaceTimers(this.#sctp, this.#timer, (reason) => this.#fail(reason))
    this.#replaceReceiving()
    guardSacks(this.#sctp, (reason) => options.onFault(reason))
    guardResets(this.#sctp, this.#inbound, options.streamIds)
    this.#sctp.stateChanged.connected.subscribe(() => this.#onConnected())
    this.#sctp.stateChanged.closed.subscribe(() => this.#onClosed())
    this.#sctp.onReconfigStreams.subscribe((ids) => options.onStreamsReset(ids))
    void this.#start()
  }

  /** Bytes sent but not yet acknowledged. */
  get outstanding(): number {
    let bytes = 0
    for (const chunk of this.#sctp.sentQueue) bytes += chunk.userData.length
    return bytes
  }

  /** Takes a packet of the peer's; keeps a copy of it, not the packet. */
  receive(packet: Buffer): void {
    if (this.#closed) return
    const guarded = guardSctp(packet)
    if (typeof guarded === 'string') {
      this.#options.onFault(guarded)
      return
    }
    if (this.#pending.length === MAX_PENDING) {
      this.#options.onFault('packets_pending')
      return
    }
    this.#pending.push(guarded === packet ? Buffer.from(packet) : guarded)
    void this.#drain()
  }

  /** Sends a message, reliable and in order; resolves when all of it has left once, or never when it ends before. */
  async send(streamId: number, protocol: number, data: Buffer): Promise<void> {
    await this.#sctp.send(streamId, protocol, data, { ordered: true })
  }

  /** Resets our side of a stream (RFC 6525 §5.1.2), which closes its channel. */
  resetStream(streamId: number): void {
    if (this.#closed || this.#sctp.reconfigQueue.includes(streamId)) return
    this.#sctp.reconfigQueue.push(streamId)
    this.#catch(this.#sctp.transmitReconfigRequest())
  }

  /** Sends an ABORT when there is an association, and frees everything. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#end(this.#sctp.associationState !== STATE.closed)
  }

  async #start(): Promise<void> {
    this.#draining = true
    await undefined // so that nobody is called from within a constructor
    if (this.#closed) return
    this.#sctp.isServer = !this.#options.initiate
    await this.#sctp.start(this.#options.remotePort).catch(() => this.#options.onFault('start'))
    // A client too must answer an INIT: some peers send one whatever their role (RFC 9260 §5.2.1).
    this.#sctp.isServer = true
    this.#draining = false
    void this.#drain()
  }

  /** One packet at a time: werift's handlers await in the middle of their work. */
  async #drain(): Promise<void> {
    if (this.#draining) return
    this.#draining = true
    for (let packet = this.#pending.shift(); packet && !this.#closed; packet = this.#pending.shift()) {
      this.#outbound.hold()
      await this.#sctp.handleData(packet).catch(() => this.#options.onFault('packet'))
      this.#outbound.release()
    }
    this.#draining = false
  }

  #onConnected(): void {
    this.#sctp.timer1Cancel()
    if (this.#wasEstablished) return
    this.#wasEstablished = true
    this.#options.onEstablished()
  }

  #onClosed(): void {
    if (this.#closed) return
    this.#end(false)
    this.#options.onClosed()
  }

  #fail(reason: string): void {
    if (this.#closed) return
    this.#end(true)
    this.#options.onFault(reason)
    this.#options.onClosed()
  }

  #end(abort: boolean): void {
    if (abort) this.#catch(this.#sctp.abort())
    this.#outbound.release()
    this.#closed = true
    this.#pending.length = 0
    this.#timer.close()
    this.#sctp.setState(STATE.closed)
  }

  #catch(work: Promise<void>): void {
    work.catch(() => this.#options.onFault('send'))
  }

  #replaceReceiving(): void {
    const sctp = this.#sctp
    const inbound = this.#inbound
    const receiveChunk = sctp.receiveChunk.bind(sctp)
    sctp.receiveChunk = (chunk) => this.#receiveChunk(chunk, receiveChunk)
    sctp.receiveDataChunk = ({ tsn, streamId, streamSeqNum, protocol, flags, userData }) => {
      const fragment = { tsn, streamId, sequence: streamSeqNum, protocol, flags, data: userData }
      this.#onReceipt(inbound.receive(fragment))
    }
    sctp.receiveForwardTsnChunk = ({ cumulativeTsn, streams }) => {
      this.#onReceipt(inbound.forward(cumulativeTsn, streams))
    }
    sctp.sendSack = async () => this.#sendSack()
    sctp.sendChunk = async (chunk) => {
      if (!this.#closed) this.#outbound.send(chunk, sctp.remoteVerificationTag)
    }
  }

  async #receiveChunk(chunk: WeriftChunk, inner: (chunk: WeriftChunk) => Promise<void>): Promise<void> {
    const sctp = this.#sctp
    if (this.#closed) return
    const state = sctp.associationState
    switch (chunk.type) {
      case CHUNK.init:
        // werift would start over: a copy of the first INIT, late, must not.
        if (state === STATE.established) return
        return this.#receiveInit(chunk, inner)
      case CHUNK.initAck:
        if (state !== STATE.cookieWait) return
        return this.#receiveInit(chunk, inner)
      case CHUNK.shutdown:
        if (!this.#inbound.started) return
        await sctp.sendChunk(new (loadWeriftSctp().ShutdownAckChunk)(0, undefined))
        sctp.setState(STATE.closed)
        return
      case CHUNK.data:
      case CHUNK.sack:
      case CHUNK.forwardTsn:
        if (!this.#inbound.started || state < STATE.cookieEchoed) return
        return inner(chunk)
      default:
        return inner(chunk)
    }
  }

  async #receiveInit(chunk: WeriftChunk, inner: (chunk: WeriftChunk) => Promise<void>): Promise<void> {
    if (!isInit(chunk)) return
    this.#inbound.start(chunk.initialTsn)
    await inner(chunk)
  }

  #onReceipt(receipt: Receipt): void {
    if (receipt !== 'taken' && receipt !== 'duplicate' && receipt !== 'dropped') {
      this.#fail(receipt)
      return
    }
    this.#sctp.sackNeeded = true
    this.#sctp.sackImmediate = true
  }

  async #sendSack(): Promise<void> {
    const sctp = this.#sctp
    if (this.#closed || !sctp.sackNeeded) return
    const sack = new (loadWeriftSctp().SackChunk)(0, undefined)
    sack.cumulativeTsn = this.#inbound.cumulative
    sack.advertisedRwnd = this.#inbound.window
    const { gaps, duplicates } = this.#inbound.takeReport()
    sack.gaps = gaps
    sack.duplicates = duplicates
    sctp.sackNeeded = false
    sctp.sackImmediate = false
    await sctp.sendChunk(sack)
  }
}
