/**
 * Which session a datagram is for: by our ufrag for STUN requests, by the client's address (and the address of ours
 * it sent to) for all else.
 *
 * An address leads to at most two sessions, the incumbent and the other. Naming an address, as a check with a forged
 * source does, is a claim and no more: it never takes the place of a session whose client was shown to receive there
 * (`confirm`), only that of the oldest claim. While both are confirmed, one claim waits beside them, so that a third
 * client of an address can be shown to be there. Among confirmed ones the latest is the incumbent, since an address
 * belongs to one client at a time. Nothing is promoted for merely sending authentic packets from an address: a
 * session can do that for itself with a forged source. No look-up allocates. Pure.
 */

import type { Path } from './ice/path.ts'
import { type Place, PlaceTable, type UfragEntry, UfragTable } from './route-tables.ts'

/** Offers a packet to a session; true when the session found it authentic and its own. */
export type Accept<S> = (
  session: S,
  now: number,
  bytes: Buffer,
  start: number,
  end: number,
  path: Path,
) => boolean

/** What one session has in the tables. */
interface Holdings<S> {
  readonly ufrags: Set<UfragEntry<S>>
  readonly places: Set<Place<S>>
}

/** The tables of one transceiver. All sizes are 0 when every session is removed. */
export class Routes<S> {
  readonly #ufrags: UfragTable<S>
  readonly #places: PlaceTable<S>
  readonly #holdings = new Map<S, Holdings<S>>()

  /** `seed`: a random 32-bit integer, so that nobody can choose addresses that collide. */
  constructor(seed: number) {
    this.#ufrags = new UfragTable(seed)
    this.#places = new PlaceTable(seed)
  }

  /** How much is in the tables. */
  get size(): { sessions: number; ufrags: number; addresses: number } {
    return { sessions: this.#holdings.size, ufrags: this.#ufrags.size, addresses: this.#places.size }
  }

  /** Leads our ufrag to a session; false, and nothing changed, when it leads to another. */
  addUfrag(ufrag: string, session: S): boolean {
    const bytes = Buffer.from(ufrag)
    const found = this.#ufrags.find(bytes, 0, bytes.length)
    if (found) return found.session === session
    this.#hold(session).ufrags.add(this.#ufrags.add(bytes, session))
    return true
  }

  /** Ends that, if it leads to this session. */
  removeUfrag(ufrag: string, session: S): void {
    const bytes = Buffer.from(ufrag)
    const found = this.#ufrags.find(bytes, 0, bytes.length)
    if (found?.session !== session) return
    this.#ufrags.remove(found)
    this.#holdings.get(session)?.ufrags.delete(found)
    this.#release(session)
  }

  /** The session of the ufrag at bytes[start, end). */
  byUfrag(bytes: Uint8Array, start: number, end: number): S | undefined {
    return this.#ufrags.find(bytes, start, end)?.session
  }

  /** A session claims an address; repeating it does nothing. */
  claim(path: Path, session: S): void {
    const place = this.#places.find(path)
    if (!place) {
      this.#hold(session).places.add(this.#places.add(path, session))
      return
    }
    if (place.incumbent === session || place.other === session || place.claimant === session) return
    if (place.other !== undefined && place.otherConfirmed) {
      if (place.claimant !== undefined) this.#vacate(place, place.claimant)
      place.claimant = session
    } else {
      if (place.other !== undefined) {
        this.#vacate(place, place.incumbentConfirmed ? place.other : place.incumbent)
      }
      place.other = session
      place.otherConfirmed = false
    }
    this.#hold(session).places.add(place)
  }

  /** A session's client was shown to receive at an address: it is the incumbent, whoever was. */
  confirm(path: Path, session: S): void {
    const place = this.#places.find(path) ?? this.#places.add(path, session)
    if (place.claimant === session) place.claimant = undefined
    if (place.incumbent !== session) {
      const { claimant } = place
      place.claimant = undefined
      if (place.other !== undefined && place.other !== session) this.#vacate(place, place.other)
      place.other = place.incumbent
      place.otherConfirmed = place.incumbentConfirmed
      place.incumbent = session
      place.claimant = claimant
    }
    place.incumbentConfirmed = true
    this.#hold(session).places.add(place)
  }

  /** A session gives an address up; whoever else is there stays. */
  leave(path: Path, session: S): void {
    const place = this.#places.find(path)
    const isHere = place?.incumbent === session || place?.other === session || place?.claimant === session
    if (place && isHere) this.#vacate(place, session)
  }

  /** Takes everything of a session out. */
  remove(session: S): void {
    const held = this.#holdings.get(session)
    if (!held) return
    for (const entry of held.ufrags) this.#ufrags.remove(entry)
    held.ufrags.clear()
    for (const place of held.places) this.#vacate(place, session)
    this.#release(session)
  }

  /**
   * Offers bytes[start, end) to the sessions at its address, the incumbent first, a claimant last; the one that
   * accepted, if any.
   * One that does not accept must leave the bytes as they were.
   */
  offer(
    accept: Accept<S>,
    now: number,
    bytes: Buffer,
    start: number,
    end: number,
    path: Path,
  ): S | undefined {
    const place = this.#places.find(path)
    if (!place) return undefined
    // Taken before the call: a session that is offered a packet may end, and change the place.
    const { incumbent, other, claimant } = place
    if (accept(incumbent, now, bytes, start, end, path)) return incumbent
    if (other !== undefined && accept(other, now, bytes, start, end, path)) return other
    return claimant !== undefined && accept(claimant, now, bytes, start, end, path) ? claimant : undefined
  }

  #vacate(place: Place<S>, session: S): void {
    if (place.claimant === session) place.claimant = undefined
    else {
      if (place.incumbent === session) {
        if (place.other === undefined) this.#places.remove(place)
        else {
          place.incumbent = place.other
          place.incumbentConfirmed = place.otherConfirmed
        }
      }
      place.other = place.claimant
      place.otherConfirmed = false
      place.claimant = undefined
    }
    this.#holdings.get(session)?.places.delete(place)
    this.#release(session)
  }

  #hold(session: S): Holdings<S> {
    let held = this.#holdings.get(session)
    if (!held) {
      held = { ufrags: new Set(), places: new Set() }
      this.#holdings.set(session, held)
    }
    return held
  }

  #release(session: S): void {
    const held = this.#holdings.get(session)
    if (held && held.ufrags.size === 0 && held.places.size === 0) this.#holdings.delete(session)
  }
}
