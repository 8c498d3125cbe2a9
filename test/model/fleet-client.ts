/** A client of the model: the checks of a browser, and media both ways. It may move, and it may be somebody bad. */

import { type Address, STUN_BINDING_REQUEST } from '../../core/index.ts'
import { Checks, type Credentials } from '../peers/checks.ts'
import type { Front } from './fleet-front.ts'
import { readMedia, writeMedia } from './fleet-media.ts'
import type { FleetSession, FleetTransceiver } from './fleet-transceiver.ts'

/** How often a client checks: more often than every 6 s (RFC 7675 §5.1), as Chromium does. */
const CHECK_MS = 2500

/** What a client is made of. */
export interface ClientOptions {
  readonly number: number
  readonly local: Credentials
  readonly remote: Credentials
  readonly session: FleetSession
  readonly transceiver: FleetTransceiver
  /** What it sends to. */
  readonly front: Front
  now(): number
  /** A datagram leaves by the address that the client has just then. */
  send(client: FleetClient, payload: Buffer): void
}

/** One caller. */
export class FleetClient {
  readonly number: number
  readonly session: FleetSession
  readonly transceiver: FleetTransceiver
  readonly front: Front
  address: Address
  /** Since when nothing has happened to it that may cost packets. */
  undisturbedSince: number
  /** When media of its call last reached it, and packets that were another call's. */
  heardAt = Number.NEGATIVE_INFINITY
  strange = 0
  /** Its last check, as somebody on the path would have it. */
  captured: Buffer | undefined
  readonly #o: ClientOptions
  #checks: Checks
  #sent = 0
  #highest = -1

  constructor(address: Address, options: ClientOptions) {
    this.#o = options
    this.number = options.number
    this.session = options.session
    this.transceiver = options.transceiver
    this.front = options.front
    this.address = address
    this.undisturbedSince = options.now()
    this.#checks = this.#start(options.local, options.remote)
  }

  /** New credentials. */
  restart(local: Credentials, remote: Credentials): void {
    this.#checks = this.#start(local, remote)
  }

  /** It has another address now; `knows` when it noticed, as on a change of network. */
  move(address: Address, knows: boolean): void {
    this.address = address
    if (knows) this.#checks.start(this.#o.now())
  }

  tick(): void {
    this.#checks.tick(this.#o.now())
  }

  talk(): void {
    this.#o.send(this, writeMedia(this.number, this.#sent++))
  }

  /** A datagram comes from `front`; one from where it sends nothing to is nobody's. */
  receive(front: Address, payload: Buffer): void {
    if (!front.equals(this.front.address)) {
      this.strange++
      return
    }
    const now = this.#o.now()
    if (payload[0]! <= 3) {
      this.#checks.receive(now, payload, 0, payload.length, this.address)
      return
    }
    const media = readMedia(payload)
    if (media?.call !== this.number) this.strange++
    else if (media.number > this.#highest) {
      this.#highest = media.number
      this.heardAt = now
    }
  }

  #start(local: Credentials, remote: Credentials): Checks {
    const checks = new Checks({
      local,
      remote,
      intervalMs: CHECK_MS,
      send: (bytes, start, end) => {
        const datagram = Buffer.from(bytes.subarray(start, end))
        // Not an answer to the server's own check, which would follow any flow of this address.
        if (datagram.readUInt16BE(0) === STUN_BINDING_REQUEST) this.captured = datagram
        this.#o.send(this, datagram)
      },
      onAnswered: () => {},
    })
    checks.start(this.#o.now())
    return checks
  }
}
