/**
 * The ways between clients, a relay and its transceivers: to a public socket, or by a previous hop. Holds what is true
 * of each datagram whatever the relay knows: it is counted once, what came from a relay goes to none, and an answer
 * takes the way that the client's datagrams came by.
 */

import assert from 'node:assert/strict'
import type { Address } from '../../../../../core/index.ts'
import type { DropReason } from '../../../../../plugins/relay/pure/drop-reasons.ts'
import { bindingRequest } from '../../../../stun-bytes.ts'
import { framed, fromHop, told } from '../simulated-hops.ts'
import { at, LOCALS, type Outcome, type SimulatedRelay } from '../simulated-relay.ts'
import { ABROAD, BAD_FRAMES, HOPS, SOCKETS } from './rule-steps.ts'

/** A name that no hop has. */
const NO_HOP = at('[100::1]:3500')

/** A hop as the relay has it. */
interface Known {
  readonly local: number
  readonly name: Address
}

/** The ways to one relay. */
export class RuleWays {
  readonly #relay: SimulatedRelay
  /** By way. */
  readonly #hops = new Map<number, Known>()
  readonly #counts = new Map<DropReason | 'forwarded', number>()
  #datagrams = 0

  constructor(relay: SimulatedRelay) {
    this.#relay = relay
  }

  /** Whether a way is one by another relay. */
  isHop(way: number): boolean {
    return way >= SOCKETS.length
  }

  /** What the relay knows a way by; undefined for a hop that nothing has come by. */
  localOf(way: number): number | undefined {
    return this.isHop(way) ? this.#hops.get(way)?.local : SOCKETS[way]
  }

  /** A datagram from a client. */
  up(way: number, bytes: Buffer, client: string): Outcome {
    const relay = this.#relay
    if (!this.isHop(way)) return this.#counted(() => relay.up(bytes, client, SOCKETS[way]))
    const hop = HOPS[way - SOCKETS.length]!
    const outcome = this.#counted(() => fromHop(relay, framed(bytes, hop.proxy, client), hop.relay))
    if (typeof outcome !== 'string') assertNoRelay(outcome)
    this.#meet(way)
    return outcome
  }

  /** A client's connectivity check. */
  check(way: number, ufrag: string, client: string): Outcome {
    return this.up(way, bindingRequest(`${ufrag}:client`), client)
  }

  /** A framed datagram from a transceiver, for a client by the way that the transceiver was told. */
  down(way: number, server: string, payload: Buffer, client: string): Outcome {
    const isHop = this.isHop(way)
    const name = isHop ? (this.#hops.get(way)?.name ?? NO_HOP) : LOCALS[SOCKETS[way]!]!
    const outcome = this.#counted(() => this.#relay.down(server, payload, client, name))
    if (name === NO_HOP) assert.equal(outcome, 'unknown_proxy')
    if (typeof outcome === 'string') return name === NO_HOP ? 'no_flow' : outcome
    const { relay, proxy } = HOPS[way - SOCKETS.length] ?? { relay: undefined, proxy: name }
    assert.deepEqual(outcome, [`${isHop ? `${relay} < ` : ''}${proxy} > ${client}`])
    return outcome
  }

  /** A check that another relay must not send so; it is dropped for the reason that it must be. */
  badFrame(hop: number, what: keyof typeof BAD_FRAMES, ufrag: string, client: string): void {
    const { relay, proxy } = HOPS[hop]!
    const check = bindingRequest(`${ufrag}:client`)
    const whole = framed(check, proxy, client)
    const bytes = {
      stranger: whole,
      bare: check,
      cut: whole.subarray(0, 37),
      empty: whole.subarray(0, 38),
      nested: framed(whole, proxy, client),
      ourselves: framed(check, proxy, String(LOCALS[0])),
      nobody: framed(check, proxy, '0.0.0.0:9'),
    }[what]
    const source = what === 'stranger' ? at(`10.8.0.1:${relay.port}`) : relay
    const outcome = this.#counted(() => fromHop(this.#relay, bytes, source))
    assert.equal(outcome, BAD_FRAMES[what])
  }

  /** The same pair is the same hop for as long as the relay lives. */
  #meet(way: number): void {
    const known = this.#hops.get(way)
    const { local } = this.#relay.decision
    const name = told(this.#relay)
    if (known) assert.deepEqual([local, String(name)], [known.local, String(known.name)])
    for (const [other, hop] of this.#hops) assert.ok(other === way || !hop.name.equals(name), 'names differ')
    this.#hops.set(way, { local, name })
  }

  /** Each datagram is counted once, as dropped for its reason or as forwarded. */
  #counted(run: () => Outcome): Outcome {
    const outcome = run()
    const { drops, packetsUp, packetsDown } = this.#relay.state.counters
    const as = typeof outcome === 'string' ? outcome : 'forwarded'
    const count = (this.#counts.get(as) ?? 0) + 1
    this.#counts.set(as, count)
    const actual = as === 'forwarded' ? packetsUp + packetsDown : drops.of(as)
    assert.equal(actual, count, `it is counted as ${as}`)
    assert.equal(packetsUp + packetsDown + drops.total, ++this.#datagrams, 'it is counted once')
    return outcome
  }
}

function assertNoRelay(outcome: readonly string[]): void {
  for (const to of outcome) {
    assert.ok(!ABROAD.some((relay) => relay === to), 'what came from a relay goes to none')
  }
}
