/**
 * Leads what the socket received to its session: STUN requests by our ufrag, everything else by the client's address,
 * to the incumbent first and then to the other. Counts what nobody wanted.
 */

import { readStun, STUN_BINDING_REQUEST, StunSummary } from '../../core/index.ts'
import type { IceOutcome } from './ice/agent.ts'
import type { Path } from './ice/path.ts'
import type { Accept, Routes } from './routes.ts'
import type { Session } from './session.ts'
import type { SocketReceiver } from './socket.ts'

/** The part of a session that takes datagrams. */
export type DispatchTarget = Pick<Session, 'receiveStun' | 'receiveDtls' | 'receiveMedia'>

/** Why a datagram found no session; the closed set. */
export interface DispatchDrops {
  malformed_stun: number
  unknown_ufrag: number
  unexpected_stun: number
  /** DTLS from an address that has no session, or that its sessions did not take. */
  unclaimed_dtls: number
  /** SRTP likewise: also what is forged, replayed or late. */
  unclaimed_media: number
}

const receiveDtls: Accept<DispatchTarget> = (session, now, bytes, start, end, path) =>
  session.receiveDtls(now, bytes, start, end, path)

const receiveMedia: Accept<DispatchTarget> = (session, now, bytes, start, end, path) =>
  session.receiveMedia(now, bytes, start, end, path)

/** The socket's receiver. Before `serve` everything is dropped. */
export class Dispatch implements SocketReceiver {
  readonly drops: DispatchDrops = {
    malformed_stun: 0,
    unknown_ufrag: 0,
    unexpected_stun: 0,
    unclaimed_dtls: 0,
    unclaimed_media: 0,
  }
  /** What became of STUN messages that reached a session. */
  readonly stun = new Map<IceOutcome, number>()
  readonly #summary = new StunSummary()
  #routes: Routes<DispatchTarget> | undefined

  /** Begins to lead packets by these tables. */
  serve(routes: Routes<DispatchTarget>): void {
    this.#routes = routes
  }

  receiveStun(bytes: Buffer, start: number, end: number, path: Path): void {
    const summary = this.#summary
    if (!readStun(bytes, start, end, summary)) {
      this.drops.malformed_stun++
      return
    }
    const now = performance.now()
    if (summary.type !== STUN_BINDING_REQUEST) {
      if (!this.#routes?.offer(this.#receiveAnswer, now, bytes, start, end, path))
        this.drops.unexpected_stun++
      return
    }
    const session = this.#routes?.byUfrag(bytes, summary.ufragStart, summary.ufragEnd)
    if (session) this.#count(session.receiveStun(now, bytes, start, end, path))
    else this.drops.unknown_ufrag++
  }

  receiveDtls(bytes: Buffer, start: number, end: number, path: Path): void {
    const now = performance.now()
    if (!this.#routes?.offer(receiveDtls, now, bytes, start, end, path)) this.drops.unclaimed_dtls++
  }

  receiveMedia(bytes: Buffer, start: number, end: number, path: Path): void {
    const now = performance.now()
    if (!this.#routes?.offer(receiveMedia, now, bytes, start, end, path)) this.drops.unclaimed_media++
  }

  /** An answer to a path check is whose check it was. */
  readonly #receiveAnswer: Accept<DispatchTarget> = (session, now, bytes, start, end, path) => {
    const outcome = session.receiveStun(now, bytes, start, end, path)
    this.#count(outcome)
    return outcome === 'validated'
  }

  #count(outcome: IceOutcome): void {
    this.stun.set(outcome, (this.stun.get(outcome) ?? 0) + 1)
  }
}
