/** How a client's packets travel: its socket, its checks, and DTLS over them. */

import { Address, packetKind } from '../../core/index.ts'
import { dgramEngine } from '../../core/udp/dgram-engine.ts'
import type { SrtpKeys } from '../../plugins/transceiver/media/srtp-keys.ts'
import { DtlsEndpoint } from '../../plugins/transceiver/peer/dtls.ts'
import type { DtlsIdentity } from '../../plugins/transceiver/peer/dtls-context.ts'
import type { Answer } from './answer.ts'
import { Checks, type Credentials } from './checks.ts'
import { type ClientOptions, loopback } from './client-options.ts'
import { ClientSocket } from './client-socket.ts'
import { onTick } from './ticker.ts'

/** Whom a transport tells. */
export interface TransportHandlers {
  onKeys(keys: SrtpKeys): void
  /** A message that came by DTLS: an SCTP packet. */
  onMessage(message: Buffer): void
  /** SRTP or SRTCP, bytes[start, end). */
  onMedia(bytes: Buffer, start: number, end: number): void
  /** DTLS ended, other than by us. */
  onEnd(reason: string): void
}

/** One client's transport. */
export class ClientTransport {
  /** The last check's round trip, in milliseconds. */
  roundTripMs: number | undefined
  /** Where the server saw us last. */
  readonly mapped = new Address()
  checks: Checks | undefined
  dtls: DtlsEndpoint | undefined
  readonly #o: ClientOptions
  readonly #identity: DtlsIdentity
  readonly #handlers: TransportHandlers
  #socket!: ClientSocket
  #answer: Answer | undefined
  #stopTicking: (() => void) | undefined

  private constructor(options: ClientOptions, identity: DtlsIdentity, handlers: TransportHandlers) {
    this.#o = options
    this.#identity = identity
    this.#handlers = handlers
  }

  static async open(
    options: ClientOptions,
    identity: DtlsIdentity,
    handlers: TransportHandlers,
  ): Promise<ClientTransport> {
    const transport = new ClientTransport(options, identity, handlers)
    const { engine = dgramEngine, bind = loopback() } = options
    transport.#socket = await ClientSocket.open(engine, bind, (bytes, start, end, source) =>
      transport.#receive(bytes, start, end, source),
    )
    return transport
  }

  get socket(): ClientSocket {
    return this.#socket
  }

  /** Begins to check, or begins anew with others' credentials: an ICE restart. */
  start(local: Credentials, answer: Answer): void {
    const remote = this.#o.via ?? answer.candidates[0]
    if (!remote) throw new Error('the answer has no candidate')
    this.#answer = answer
    this.#socket.remote.copy(remote)
    this.checks = new Checks({
      local,
      remote: answer,
      intervalMs: this.#o.checkEveryMs ?? 2500,
      send: (bytes, start, end) => this.#socket.send(bytes, start, end),
      onAnswered: (roundTripMs, mapped) => {
        this.roundTripMs = roundTripMs
        this.mapped.copy(mapped)
        if (answer.setup === 'passive') this.#openDtls(answer)
      },
    })
    this.#stopTicking?.()
    this.#stopTicking = onTick((now) => this.#tick(now))
    this.checks.start(performance.now())
  }

  /** Sends a datagram as it is, to the server unless another address is named. */
  send(datagram: Uint8Array, to?: Address): void {
    const copy = Buffer.from(datagram)
    this.#socket.send(copy, 0, copy.length, to)
  }

  /** Goes on from another port, and checks from there at once. */
  async rebind(bind: Address = loopback()): Promise<void> {
    await this.#socket.rebind(bind)
    this.checks?.start(performance.now())
  }

  /** Stops and frees everything; with `farewell` the server is told. Idempotent. */
  async close(farewell: boolean): Promise<void> {
    this.#stopTicking?.()
    this.checks?.stop()
    if (!farewell) this.#socket.tap = () => false
    this.dtls?.close()
    await this.#socket.close()
  }

  #tick(now: number): void {
    this.checks?.tick(now)
    if (this.dtls && now >= this.dtls.deadline) this.dtls.tick(now)
  }

  #receive(bytes: Buffer, start: number, end: number, source: Address): void {
    switch (packetKind(bytes[start]!)) {
      case 'stun':
        this.checks?.receive(performance.now(), bytes, start, end, source)
        break
      case 'dtls':
        if (this.#answer) this.#openDtls(this.#answer).receive(bytes, start, end, performance.now())
        break
      case 'media':
        this.#handlers.onMedia(bytes, start, end)
    }
  }

  #openDtls(answer: Answer): DtlsEndpoint {
    if (this.dtls) return this.dtls
    this.dtls = new DtlsEndpoint({
      role: answer.setup === 'passive' ? 'client' : 'server',
      fingerprints: [{ algorithm: 'sha-256', value: answer.fingerprint }],
      context: this.#identity.context,
      send: (datagram) => this.send(datagram),
      onConnected: (keys) => this.#handlers.onKeys(keys),
      onMessage: (message) => this.#handlers.onMessage(message),
      onClosed: (reason, failed) => this.#handlers.onEnd(failed ? `failed: ${reason}` : reason),
    })
    this.dtls.start(performance.now())
    return this.dtls
  }
}
