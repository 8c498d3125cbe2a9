/** Random lives of a session: whatever honest and dishonest ones do, the rules hold after each step. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { appendFingerprint } from '../../../../../core/wire/stun-integrity.ts'
import type { Path } from '../../../../../plugins/transceiver/ice/path.ts'
import { answer, Bench, check, OURS, path, THEIRS } from './support.ts'

const CLIENTS = [
  '203.0.113.5:40000',
  '203.0.113.5:40001',
  '203.0.113.6:40000',
  '192.0.2.66:6666',
  '192.0.2.67:1',
]
/** The client really is at the first three; the others are an attacker's, or of people who know of nothing. */
const HONEST = 3
const LOCALS = ['198.51.100.1:3478', '198.51.100.2:3478']
const RELAYS = ['10.0.0.1:5000', '10.0.0.2:5000']

const step = fc.record({
  what: fc.constantFrom(
    'check',
    'join',
    'replay',
    'forge',
    'garble',
    'answer',
    'media',
    'data',
    'dtls',
    'wait',
    'restart',
  ),
  client: fc.nat(CLIENTS.length - 1),
  local: fc.nat(LOCALS.length - 1),
  relay: fc.nat(RELAYS.length - 1),
  number: fc.nat(20_000),
})

class World {
  readonly bench = new Bench()
  readonly received = new Map<string, number>()
  readonly captured: Buffer[] = []
  /** Clients that answered a check of ours, or held a handshake with what we sent them. */
  readonly proven = new Set<string>()
  readonly reached = new Set<string>()
  local = OURS
  remote = THEIRS
  #restarts = 0

  run(one: { what: string; client: number; local: number; relay: number; number: number }): void {
    const way = path(CLIENTS[one.client]!, LOCALS[one.local]!, RELAYS[one.relay]!)
    const honest = one.client < HONEST
    const { agent } = this.bench
    switch (one.what) {
      case 'wait':
        this.bench.wait(one.number)
        break
      case 'restart':
        this.#restart()
        break
      case 'check':
      case 'join': {
        if (!honest) break
        const bytes = check({
          local: this.remote,
          remote: this.local,
          priority: one.number % 3,
          useCandidate: one.number % 2 === 0,
        })
        this.captured.push(bytes)
        this.receive(bytes, way)
        if (one.what === 'join') this.answer(way)
        break
      }
      case 'replay':
        if (this.captured.length > 0) this.receive(this.captured[one.number % this.captured.length]!, way)
        break
      case 'forge':
        this.receive(check({ pwd: 'a guess at the password' }), way)
        break
      case 'garble': {
        const bytes = Buffer.from(this.captured.at(-1) ?? check())
        bytes[one.number % bytes.length]! ^= 1 + (one.number % 255)
        this.receive(bytes, way)
        break
      }
      case 'answer':
        if (honest) this.answer(way)
        break
      case 'media':
        if (!honest) break
        this.count(way, 100)
        agent.heard(way, 100)
        agent.authenticated(this.bench.now, way)
        break
      case 'data':
        if (!agent.maySend(way, 700)) break
        this.reached.add(end(way))
        this.bench.sent.push({ bytes: Buffer.alloc(700), path: way })
        break
      case 'dtls':
        if (!honest || !this.reached.has(end(way))) break
        agent.validated(this.bench.now, way)
        this.proven.add(way.client.toString())
        break
    }
    this.verify()
  }

  receive(bytes: Buffer, way: Path): void {
    this.count(way, bytes.length)
    this.bench.receive(bytes, way)
  }

  count(way: Path, length: number): void {
    this.received.set(way.client.toString(), (this.received.get(way.client.toString()) ?? 0) + length)
  }

  /** The client answers the last check that came to it, from where it came to, with either password it has had. */
  answer(way: Path): void {
    const own = this.bench.sent.findLast(
      ({ bytes, path: to }) => bytes[0] === 0 && bytes[1] === 1 && end(to) === end(way),
    )
    if (!own) return
    const peer = own.bytes.includes(this.remote.ufrag) ? this.remote : THEIRS
    const bytes = answer(own.bytes, peer.pwd)
    this.count(way, bytes.length)
    if (this.bench.receive(bytes, way) === 'validated') this.proven.add(way.client.toString())
  }

  #restart(): void {
    const salt = createHash('sha256')
      .update(`${++this.#restarts}`)
      .digest('hex')
    this.local = { ufrag: `o${salt.slice(0, 8)}`, pwd: salt.slice(0, 24) }
    this.remote = { ufrag: `t${salt.slice(8, 16)}`, pwd: salt.slice(24, 48) }
    this.bench.agent.restart(this.local, this.remote)
  }

  verify(): void {
    const { agent } = this.bench
    const selected = agent.selected?.client.toString()
    assert.ok(selected === undefined || this.proven.has(selected), `media goes to ${selected}, never proven`)
    for (const client of CLIENTS) {
      if (this.proven.has(client)) continue
      const most = 3 * (this.received.get(client) ?? 0)
      const sent = this.bench.bytesTo(client)
      assert.ok(sent <= most, `${client} got ${sent} bytes of at most ${most}`)
    }
  }
}

const end = (way: Path): string => `${way.client} ${way.local}`

test('media goes to proven addresses only, and all others get at most three times what they sent', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const world = new World()
      for (const one of steps) world.run(one)
    }),
    { numRuns: 300 },
  )
})

test('what is not authenticated changes nothing: 200,000 random and mutated datagrams', () => {
  const bench = new Bench()
  bench.join(path(CLIENTS[0]!))
  const samples = [check(), check({ controlled: true }), answer(check()), bench.checksTo(CLIENTS[0]!)[0]!]
  const before = JSON.stringify([bench.events, bench.selections, bench.agent.lastCheckAt])
  const sent = bench.sent.length
  let seed = 0x12345678
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0
    return (seed >>> 8) % below
  }
  const ways = CLIENTS.map((client) => path(client))
  const bytes = Buffer.alloc(400)
  for (let i = 0; i < 200_000; i++) {
    let length = random(200)
    if (i % 4 === 0) for (let at = 0; at < length; at++) bytes[at] = random(256)
    else {
      const sample = samples[random(samples.length)]!
      sample.copy(bytes)
      // Anything before the fingerprint is under the integrity; a cut or a longer datagram is malformed.
      length = i % 8 === 1 ? random(sample.length) : sample.length
      for (let edits = 1 + random(4); edits > 0; edits--) {
        const at = random(sample.length - 8)
        bytes[at] = bytes[at]! ^ (1 + random(255))
      }
      // A right fingerprint takes half of them to the integrity.
      if (i % 2 === 1 && length === sample.length) appendFingerprint(bytes, 0, length - 8)
      if (length === sample.length && sample.equals(bytes.subarray(0, length))) continue
    }
    const outcome = bench.agent.receiveStun(bench.now, bytes, 0, length, ways[random(ways.length)]!)
    assert.ok(!['answered', 'repeated', 'validated'].includes(outcome), outcome)
  }
  assert.equal(bench.sent.length, sent)
  assert.equal(JSON.stringify([bench.events, bench.selections, bench.agent.lastCheckAt]), before)
})
