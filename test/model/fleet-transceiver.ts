/** A transceiver of the model: the real ICE agent and the real tables, and media that is a name and a number. */

import { type Address, readStun, STUN_BINDING_REQUEST, StunSummary } from '../../core/index.ts'
import { IceAgent } from '../../plugins/transceiver/ice/agent.ts'
import type { Path } from '../../plugins/transceiver/ice/path.ts'
import { Routes } from '../../plugins/transceiver/routes.ts'
import type { Credentials } from '../peers/checks.ts'
import { readMedia, writeMedia } from './fleet-media.ts'
import { frame } from './fleet-network.ts'

/** RFC 7675 §5.1. */
const CONSENT_MS = 30_000

/** What a transceiver sends by. */
export interface TransceiverSurroundings {
  now(): number
  random(length: number): Buffer
  /** A framed datagram goes to a relay. */
  toRelay(relay: Address, from: Address, bytes: Buffer): void
}

/** One call at its transceiver. */
export class FleetSession {
  readonly number: number
  readonly agent: IceAgent
  readonly openedAt: number
  /** When media of the call's client was last accepted. */
  heardAt = Number.NEGATIVE_INFINITY
  #highest = -1
  #sent = 0
  readonly #out: (path: Path, payload: Uint8Array) => void

  constructor(
    number: number,
    credentials: { local: Credentials; remote: Credentials },
    home: FleetTransceiver,
    around: TransceiverSurroundings,
  ) {
    this.number = number
    this.openedAt = around.now()
    this.#out = ({ relay, client, local }, payload) =>
      around.toRelay(relay!, home.address, frame(client, local, payload))
    this.agent = new IceAgent({
      ...credentials,
      random: (length) => around.random(length),
      handlers: {
        send: (bytes, start, end, path) => this.#out(path, bytes.subarray(start, end)),
        onSelected: () => {},
        onOpened: (path) => void home.routes.claim(path, this),
        onValidated: (path) => home.routes.confirm(path, this),
        onForgotten: (path) => home.routes.leave(path, this),
      },
    })
  }

  /** True when it was this call's, and new. */
  receiveMedia(now: number, bytes: Buffer, path: Path): boolean {
    const media = readMedia(bytes)
    if (media === undefined || media.call !== this.number || media.number <= this.#highest) return false
    this.#highest = media.number
    this.heardAt = now
    this.agent.authenticated(now, path)
    return true
  }

  /** One packet to the client, where media goes just now. */
  sendMedia(): void {
    const { selected } = this.agent
    if (selected) this.#out(selected, writeMedia(this.number, this.#sent++))
  }
}

/** A transceiver with its calls. */
export class FleetTransceiver {
  readonly cluster: number
  readonly address: Address
  readonly routes = new Routes<FleetSession>(7)
  readonly sessions = new Set<FleetSession>()
  readonly #around: TransceiverSurroundings
  readonly #summary = new StunSummary()

  constructor(cluster: number, address: Address, around: TransceiverSurroundings) {
    this.cluster = cluster
    this.address = address
    this.#around = around
  }

  /** A new call. */
  open(number: number, credentials: { local: Credentials; remote: Credentials }): FleetSession {
    const session = new FleetSession(number, credentials, this, this.#around)
    this.sessions.add(session)
    this.routes.addUfrag(credentials.local.ufrag, session)
    return session
  }

  /** A call is over. */
  close(session: FleetSession): void {
    this.sessions.delete(session)
    this.routes.remove(session)
  }

  /** A framed datagram came from a relay. */
  receive(path: Path, bytes: Buffer): void {
    const now = this.#around.now()
    if (bytes[0]! > 3) {
      this.routes.offer(
        (session, at, all, _start, _end, by) => session.receiveMedia(at, all, by),
        now,
        bytes,
        0,
        bytes.length,
        path,
      )
      return
    }
    if (!readStun(bytes, 0, bytes.length, this.#summary)) return
    const { type, ufragStart, ufragEnd } = this.#summary
    if (type === STUN_BINDING_REQUEST) {
      this.routes.byUfrag(bytes, ufragStart, ufragEnd)?.agent.receiveStun(now, bytes, 0, bytes.length, path)
      return
    }
    this.routes.offer(
      (session, at, all, start, end, by) =>
        session.agent.receiveStun(at, all, start, end, by) === 'validated',
      now,
      bytes,
      0,
      bytes.length,
      path,
    )
  }

  /** Time goes on: our own checks, and calls whose clients are gone. */
  tick(): void {
    const now = this.#around.now()
    for (const session of this.sessions) {
      session.agent.tick(now)
      if (now - (session.agent.lastCheckAt ?? session.openedAt) > CONSENT_MS) this.close(session)
    }
  }
}
