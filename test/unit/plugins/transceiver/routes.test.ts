import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Accept, Routes } from '../../../../plugins/transceiver/routes.ts'
import { path } from './ice/support.ts'

/** A session that accepts what begins with its own byte, and notes all that it is offered. */
class Session {
  readonly name: string
  offered = 0

  constructor(name: string) {
    this.name = name
  }
}

const accept: Accept<Session> = (session, _now, bytes, start) => {
  session.offered++
  return bytes.toString('latin1', start, start + session.name.length) === session.name
}

const HERE = path('203.0.113.5:40000')
const NOTHING = { sessions: 0, ufrags: 0, addresses: 0 }

function routes(...names: string[]): { table: Routes<Session>; sessions: Session[] } {
  return { table: new Routes<Session>(0x5eed), sessions: names.map((name) => new Session(name)) }
}

function reaches(table: Routes<Session>, text: string, way = HERE): string | undefined {
  const bytes = Buffer.from(`..${text}`)
  return table.offer(accept, 0, bytes, 2, bytes.length, way)?.name
}

test('a ufrag leads to its session, wherever it lies in the datagram', () => {
  const { table, sessions } = routes('a', 'b')
  assert.ok(table.addUfrag('ufragA', sessions[0]!))
  assert.ok(table.addUfrag('ufragA', sessions[0]!))
  assert.equal(table.addUfrag('ufragA', sessions[1]!), false)
  assert.equal(table.byUfrag(Buffer.from('xxufragAxx'), 2, 8), sessions[0])
  assert.equal(table.byUfrag(Buffer.from('xxufragAxx'), 2, 7), undefined)
  assert.equal(table.byUfrag(Buffer.alloc(0), 0, 0), undefined)
  table.removeUfrag('ufragA', sessions[1]!)
  assert.equal(table.byUfrag(Buffer.from('ufragA'), 0, 6), sessions[0])
})

test('ICE restart: the old ufrag goes, the session stays', () => {
  const { table, sessions } = routes('a')
  table.addUfrag('old', sessions[0]!)
  table.claim(HERE, sessions[0]!)
  table.addUfrag('new', sessions[0]!)
  table.removeUfrag('old', sessions[0]!)
  assert.equal(table.byUfrag(Buffer.from('old'), 0, 3), undefined)
  assert.equal(table.byUfrag(Buffer.from('new'), 0, 3), sessions[0])
  assert.equal(reaches(table, 'a'), 'a')
})

test('a packet is offered to the incumbent, then to the other, and to nobody once accepted', () => {
  const { table, sessions } = routes('a', 'b')
  table.claim(HERE, sessions[0]!)
  table.claim(HERE, sessions[1]!)
  assert.equal(reaches(table, 'a'), 'a')
  assert.deepEqual([sessions[0]!.offered, sessions[1]!.offered], [1, 0])
  assert.equal(reaches(table, 'b'), 'b')
  assert.equal(reaches(table, 'c'), undefined)
  assert.deepEqual([sessions[0]!.offered, sessions[1]!.offered], [3, 2])
  assert.equal(reaches(table, 'a', path('203.0.113.5:40001')), undefined)
})

test('the relay does not matter, the local address does', () => {
  const { table, sessions } = routes('a')
  table.claim(HERE, sessions[0]!)
  assert.equal(reaches(table, 'a', path('203.0.113.5:40000', undefined, '10.9.9.9:1')), 'a')
  assert.equal(reaches(table, 'a', path('203.0.113.5:40000', undefined, '')), 'a')
  assert.equal(reaches(table, 'a', path('203.0.113.5:40000', '198.51.100.2:3478')), undefined)
})

test('claims, however many, never push out a confirmed session', () => {
  const { table, sessions } = routes('victim', 'x', 'y', 'z')
  const [victim, ...attackers] = sessions
  table.claim(HERE, victim!)
  table.confirm(HERE, victim!)
  for (let i = 0; i < 30; i++) table.claim(HERE, attackers[i % 3]!)
  assert.equal(reaches(table, 'victim'), 'victim')
  assert.ok(attackers.every((attacker) => attacker.offered === 0))
  assert.equal(table.size.sessions, 2)
})

test('a session that takes over a reused address leaves the earlier one a place', () => {
  const { table, sessions } = routes('a', 'b', 'c')
  table.confirm(HERE, sessions[0]!)
  table.claim(HERE, sessions[1]!)
  assert.equal(reaches(table, 'b'), 'b')
  table.confirm(HERE, sessions[1]!)
  sessions[0]!.offered = 0
  assert.equal(reaches(table, 'b'), 'b')
  assert.equal(sessions[0]!.offered, 0, 'the later is the incumbent')
  assert.equal(reaches(table, 'a'), 'a')
})

test('a third client of an address can be shown to be there, and pushes nobody out by its claim', () => {
  const { table, sessions } = routes('a', 'b', 'c', 'd')
  const [a, b, c, d] = sessions
  for (const session of [a!, b!]) table.confirm(HERE, session)
  table.claim(HERE, d!)
  table.claim(HERE, c!)
  table.claim(HERE, c!)
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((name) => reaches(table, name)),
    ['a', 'b', 'c', undefined],
  )
  assert.equal(table.size.sessions, 3)
  table.confirm(HERE, c!)
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => reaches(table, name)),
    [undefined, 'b', 'c'],
  )
  table.claim(HERE, d!)
  table.remove(b!)
  assert.deepEqual(
    ['c', 'd'].map((name) => reaches(table, name)),
    ['c', 'd'],
  )
  for (const session of [c!, d!]) table.remove(session)
  assert.deepEqual(table.size, NOTHING)
})

test('a claim that waits is kept while another client is shown to be there, and takes nobody along when it goes', () => {
  const { table, sessions } = routes('a', 'b', 'c', 'd')
  const [a, b, c, d] = sessions
  for (const session of [a!, b!]) table.confirm(HERE, session)
  table.claim(HERE, d!)
  table.confirm(HERE, c!)
  assert.deepEqual(
    ['b', 'c', 'd'].map((name) => reaches(table, name)),
    ['b', 'c', 'd'],
  )
  table.remove(d!)
  assert.deepEqual(
    ['b', 'c'].map((name) => reaches(table, name)),
    ['b', 'c'],
  )
})

test('among claims the oldest makes room', () => {
  const { table, sessions } = routes('a', 'b', 'c')
  for (const session of sessions) table.claim(HERE, session)
  assert.equal(reaches(table, 'a'), undefined)
  assert.equal(reaches(table, 'b'), 'b')
  assert.equal(reaches(table, 'c'), 'c')
  table.confirm(HERE, sessions[0]!)
  assert.equal(reaches(table, 'a'), 'a')
})

test('field report 7: one of two sessions at an address goes, the other stays', () => {
  for (const gone of [0, 1]) {
    const { table, sessions } = routes('a', 'b')
    for (const session of sessions) {
      table.claim(HERE, session)
      table.confirm(HERE, session)
    }
    table.leave(HERE, sessions[gone]!)
    table.leave(HERE, sessions[gone]!)
    table.remove(sessions[gone]!)
    assert.equal(reaches(table, gone ? 'a' : 'b'), gone ? 'a' : 'b')
    assert.equal(reaches(table, gone ? 'b' : 'a'), undefined)
  }
})

test('field report 6: the tables are empty when all sessions are gone, however they came and went', () => {
  const step = fc.record({
    what: fc.constantFrom('addUfrag', 'removeUfrag', 'claim', 'confirm', 'leave', 'remove'),
    who: fc.nat(3),
    where: fc.nat(3),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { table, sessions } = routes('a', 'b', 'c', 'd')
      for (const { what, who, where } of steps) {
        const session = sessions[who]!
        const way = path(`203.0.113.5:${where}`)
        if (what === 'addUfrag') table.addUfrag(`u${where}`, session)
        else if (what === 'removeUfrag') table.removeUfrag(`u${where}`, session)
        else if (what === 'claim') table.claim(way, session)
        else if (what === 'confirm') table.confirm(way, session)
        else if (what === 'leave') table.leave(way, session)
        else table.remove(session)
      }
      for (const session of sessions) table.remove(session)
      assert.deepEqual(table.size, NOTHING)
    }),
  )
})

test('a session that ends while it is offered a packet does not keep it from the other', () => {
  const { table, sessions } = routes('a', 'b')
  for (const session of sessions) table.claim(HERE, session)
  const ending: Accept<Session> = (session) => {
    if (session.name === 'a') table.remove(session)
    return session.name === 'b'
  }
  assert.equal(table.offer(ending, 0, Buffer.alloc(1), 0, 1, HERE)?.name, 'b')
  assert.equal(table.size.sessions, 1)
})

test('a claim that is left alone is still a claim', () => {
  const { table, sessions } = routes('a', 'b', 'c', 'd')
  table.confirm(HERE, sessions[0]!)
  table.claim(HERE, sessions[1]!)
  table.leave(HERE, sessions[0]!)
  table.claim(HERE, sessions[2]!)
  table.claim(HERE, sessions[3]!)
  assert.equal(reaches(table, 'b'), undefined)
  assert.equal(reaches(table, 'c'), 'c')
})

test('entries whose 32-bit hashes collide are told apart and removed alone', () => {
  // Found by search, for this seed.
  const ufrags = ['1653ily446', 'ef7vren1m']
  const ways = [path('32.45.64.225:31439'), path('123.17.241.17:7071')]
  for (const first of [0, 1]) {
    const { table, sessions } = routes('a', 'b')
    const check = (i: number, there: boolean): void => {
      const ufrag = Buffer.from(ufrags[i]!)
      const { name } = sessions[i]!
      assert.equal(table.byUfrag(ufrag, 0, ufrag.length)?.name, there ? name : undefined)
      assert.equal(reaches(table, name, ways[i]), there ? name : undefined)
    }
    for (const i of [0, 1]) {
      table.addUfrag(ufrags[i]!, sessions[i]!)
      table.confirm(ways[i]!, sessions[i]!)
    }
    assert.deepEqual(table.size, { sessions: 2, ufrags: 2, addresses: 2 })
    for (const i of [0, 1]) check(i, true)
    table.remove(sessions[first]!)
    check(first, false)
    check(1 - first, true)
    table.remove(sessions[1 - first]!)
    assert.deepEqual(table.size, NOTHING)
  }
})
