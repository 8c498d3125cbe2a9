/** Two sessions and the routes between them: one of them is an attacker's, with credentials of its own. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { IceAgent } from '../../../../../plugins/transceiver/ice/agent.ts'
import type { Credentials } from '../../../../../plugins/transceiver/ice/generation.ts'
import type { Path } from '../../../../../plugins/transceiver/ice/path.ts'
import { type Accept, Routes } from '../../../../../plugins/transceiver/routes.ts'
import { answer, check, path } from './support.ts'

const VICTIM = '203.0.113.5:40000'

/** A session as far as routing sees it: media is its own when it carries its name. */
class Party {
  readonly local: Credentials
  readonly remote: Credentials
  readonly agent: IceAgent
  readonly checks: Buffer[] = []
  heard = 0
  bytesSent = 0

  constructor(name: string, routes: Routes<Party>) {
    this.local = { ufrag: `${name}server`, pwd: `${name}-our-password-22-chars` }
    this.remote = { ufrag: `${name}cl`, pwd: `${name}-their-password-22-ch` }
    this.agent = new IceAgent({
      local: this.local,
      remote: this.remote,
      random: (length) => randomBytes(length),
      handlers: {
        send: (bytes, start, end) => {
          this.bytesSent += end - start
          if (bytes[start + 1] === 1 && bytes[start] === 0)
            this.checks.push(Buffer.from(bytes.subarray(start, end)))
        },
        onSelected: () => {},
        onOpened: (way) => void routes.claim(way, this),
        onValidated: (way) => routes.confirm(way, this),
        onForgotten: (way) => routes.leave(way, this),
      },
    })
    routes.addUfrag(this.local.ufrag, this)
  }

  checkFrom(now: number, way: Path): number {
    const bytes = check({ local: this.remote, remote: this.local })
    this.agent.receiveStun(now, bytes, 0, bytes.length, way)
    return bytes.length
  }

  join(now: number, way: Path, routes: Routes<Party>): void {
    this.checkFrom(now, way)
    const reply = answer(this.checks.at(-1)!, this.remote.pwd)
    assert.equal(routes.offer(takesAnswer, now, reply, 0, reply.length, way), this)
  }
}

const takesAnswer: Accept<Party> = (party, now, bytes, start, end, way) =>
  party.agent.receiveStun(now, bytes, start, end, way) === 'validated'

const takesMedia: Accept<Party> = (party, now, bytes, start, end, way) => {
  if (bytes.toString('latin1', start, end) !== party.local.ufrag) return false
  party.heard++
  party.agent.heard(way, end - start)
  party.agent.authenticated(now, way)
  return true
}

function speak(party: Party, now: number, way: Path, routes: Routes<Party>): void {
  const bytes = Buffer.from(party.local.ufrag)
  routes.offer(takesMedia, now, bytes, 0, bytes.length, way)
}

test('capture: an attacker’s own valid checks from the victim’s address take nothing from the victim', () => {
  const routes = new Routes<Party>(1)
  const victim = new Party('v', routes)
  const attackers = [new Party('a', routes), new Party('b', routes), new Party('c', routes)]
  const way = path(VICTIM)
  let now = 1000
  victim.join(now, way, routes)
  for (let i = 0; i < 750; i++, now += 20) {
    for (const attacker of attackers) {
      if (i % 25 === 0) attacker.checkFrom(now, way)
      attacker.agent.tick(now)
      speak(attacker, now, way, routes)
    }
    if (i % 125 === 0) victim.checkFrom(now, way)
    speak(victim, now, way, routes)
  }
  assert.equal(victim.heard, 750)
  assert.equal(victim.agent.selected!.client.toString(), VICTIM)
  for (const attacker of attackers) assert.equal(attacker.agent.selected, undefined)
  for (const attacker of attackers) routes.remove(attacker)
  speak(victim, now, way, routes)
  assert.equal(victim.heard, 751)
  routes.remove(victim)
  assert.deepEqual(routes.size, { sessions: 0, ufrags: 0, addresses: 0 })
})

test('capture before the victim comes: its session still reaches the address and keeps it', () => {
  const routes = new Routes<Party>(1)
  const way = path(VICTIM)
  const attackers = [new Party('a', routes), new Party('b', routes)]
  for (const attacker of attackers) attacker.checkFrom(1000, way)
  const victim = new Party('v', routes)
  victim.join(1000, way, routes)
  for (const attacker of attackers) attacker.checkFrom(4000, way)
  speak(victim, 4000, way, routes)
  assert.equal(victim.heard, 1)
})

test('hammer: one spoofed check does not aim a session’s media at who never answered', () => {
  const routes = new Routes<Party>(1)
  const attacker = new Party('a', routes)
  const way = path(VICTIM)
  const received = attacker.checkFrom(1000, way)
  let media = 0
  for (let now = 1000; now < 33_000; now += 20) {
    attacker.agent.tick(now)
    if (attacker.agent.maySend(way, 160)) media += 160
  }
  assert.equal(attacker.agent.selected, undefined)
  assert.ok(attacker.bytesSent + media <= 3 * received)
})

test('a port that another client had before leads to the new client’s session, and back to none', () => {
  const routes = new Routes<Party>(1)
  const [before, after] = [new Party('p', routes), new Party('q', routes)]
  const way = path(VICTIM)
  before.join(1000, way, routes)
  after.join(9000, way, routes)
  speak(after, 9000, way, routes)
  routes.remove(before)
  speak(after, 9020, way, routes)
  assert.equal(after.heard, 2)
  routes.remove(after)
  assert.equal(routes.size.addresses, 0)
})
