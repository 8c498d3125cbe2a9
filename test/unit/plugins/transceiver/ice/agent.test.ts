import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { StunMessage } from '../../../../../core/index.ts'
import { samePath } from '../../../../../plugins/transceiver/ice/path.ts'
import { answer, Bench, check, OURS, PRIORITY, path, seal, THEIRS } from './support.ts'

const CLIENT = '203.0.113.5:40000'
const MOVED = '203.0.113.5:40001'
const EVIL = '192.0.2.66:6666'

const ours = (bytes: Buffer): StunMessage => {
  const message = new StunMessage()
  assert.equal(message.parse(bytes, 0, bytes.length), 'ok')
  return message
}

test('a check is answered first, then the address is checked, and only its answer makes it carry media', () => {
  const bench = new Bench()
  assert.equal(bench.receive(check(), path(CLIENT)), 'answered')
  assert.deepEqual(
    bench.sent.map((sent) => sent.bytes.readUInt16BE(0)),
    [0x0101, 0x0001],
  )
  assert.equal(bench.agent.selected, undefined)
  assert.equal(bench.agent.lastCheckAt, undefined)
  assert.equal(bench.receive(answer(bench.sent[1]!.bytes), path(CLIENT)), 'validated')
  assert.equal(bench.selected, CLIENT)
  assert.equal(bench.agent.lastCheckAt, bench.now)
  assert.deepEqual(bench.events, [`opened ${CLIENT}`, `validated ${CLIENT}`])
  assert.equal(bench.agent.busy, false)
})

test('an address is told of at every check, in case others had it meanwhile', () => {
  const bench = new Bench()
  bench.receive(check(), path(CLIENT))
  bench.receive(answer(bench.sent[1]!.bytes), path(CLIENT))
  bench.events.length = 0
  bench.receive(check(), path(CLIENT))
  assert.deepEqual(bench.events, [`opened ${CLIENT}`])
})

test('the answers and the own check are what the client can verify', () => {
  const bench = new Bench()
  const id = randomBytes(12)
  bench.receive(check({ id }), path(CLIENT))
  const success = ours(bench.sent[0]!.bytes)
  assert.equal(success.mapped.toString(), CLIENT)
  assert.ok(success.hasMapped && success.fingerprintAt > 0)
  assert.ok(bench.sent[0]!.bytes.subarray(8, 20).equals(id))
  const own = ours(bench.sent[1]!.bytes)
  assert.ok(own.hasUsername(Buffer.from(`${THEIRS.ufrag}:${OURS.ufrag}`)))
  assert.ok(own.controlled && !own.controlling && !own.useCandidate && own.priority > 0)
})

test('IPv6 clients and direct clients work as others do', () => {
  const bench = new Bench()
  const way = path('[2001:db8::5]:40000', '[2001:db8::1]:3478', '')
  bench.join(way)
  assert.ok(samePath(bench.agent.selected!, way))
  assert.equal(ours(bench.sent[0]!.bytes).mapped.toString(), '[2001:db8::5]:40000')
})

test('field report 5: wrong USERNAME (either half) or integrity is dropped and moves nothing', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  const { events, selections } = structuredClone({
    events: bench.events,
    selections: bench.selections.length,
  })
  bench.sent.length = 0
  const forged = [
    check({ username: `${OURS.ufrag}:evil` }),
    check({ username: `wrong:${THEIRS.ufrag}` }),
    check({ username: OURS.ufrag }),
    check({ username: `${OURS.ufrag}:${THEIRS.ufrag}x` }),
    check({ pwd: 'not-our-password-at-all.' }),
    check({ pwd: THEIRS.pwd }),
  ]
  const bare = check().subarray(0, 20)
  bare.writeUInt16BE(0, 2)
  for (const bytes of [...forged, bare]) {
    for (const from of [path(CLIENT), path(EVIL)]) assert.equal(bench.receive(bytes, from), 'unauthenticated')
  }
  assert.deepEqual([bench.sent, bench.events, bench.selections.length], [[], events, selections])
  assert.equal(bench.selected, CLIENT)
})

test('field report 16: checks without USE-CANDIDATE are answered and are consent', () => {
  const bench = new Bench()
  bench.join(path(CLIENT), { useCandidate: false })
  assert.equal(bench.selected, CLIENT)
  bench.wait(5000)
  assert.equal(bench.receive(check({ useCandidate: false, priority: -1 }), path(CLIENT)), 'answered')
  assert.equal(bench.agent.lastCheckAt, bench.now)
})

test('a check without PRIORITY keeps the one its pair has', () => {
  const bench = new Bench()
  bench.join(path(CLIENT), { priority: 100 })
  bench.join(path(MOVED), { priority: 90 })
  bench.receive(check({ priority: -1 }), path(CLIENT))
  assert.equal(bench.selected, CLIENT)
})

test('a captured check that is sent again from another address is dropped and moves nothing', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  bench.wait(2500)
  const captured = check()
  bench.receive(captured, path(CLIENT))
  bench.sent.length = 0
  assert.equal(bench.receive(captured, path(EVIL)), 'replayed')
  assert.equal(bench.receive(captured, path(CLIENT, '198.51.100.2:3478')), 'replayed')
  assert.deepEqual([bench.sent.length, bench.selected], [0, CLIENT])
})

test('a captured check moves no relay and gives no consent, but a client that repeats itself is answered', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  const captured = check()
  bench.receive(captured, path(CLIENT))
  const consent = bench.agent.lastCheckAt
  bench.wait(10_000)
  bench.sent.length = 0
  assert.equal(bench.receive(captured, path(CLIENT, undefined, '10.0.0.9:9')), 'repeated')
  assert.equal(bench.sent.length, 1)
  assert.equal(bench.agent.lastCheckAt, consent)
  assert.equal(bench.agent.selected!.relay!.toString(), '10.0.0.1:5000')
})

test('an eavesdropper whose copies come first takes nothing: the client’s own ones are still consent', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  for (let i = 0; i < 20; i++) {
    bench.wait(2500)
    const copied = check()
    bench.receive(copied, path(EVIL))
    assert.equal(bench.receive(copied, path(CLIENT)), 'answered')
    assert.equal(bench.agent.lastCheckAt, bench.now)
    assert.equal(bench.receive(copied, path(CLIENT)), 'repeated')
  }
  assert.equal(bench.selected, CLIENT)
  assert.ok(bench.bytesTo(EVIL) > 0)
})

test('role conflict: a client that claims to be controlled gets 487, and nothing else happens', () => {
  const bench = new Bench()
  assert.equal(bench.receive(check({ controlled: true }), path(CLIENT)), 'role_conflict')
  assert.equal(bench.sent.length, 1)
  assert.equal(ours(bench.sent[0]!.bytes).errorCode, 487)
  assert.deepEqual(bench.events, [])
})

test('unknown attributes that must be comprehended get 420 with their list, unless unauthenticated', () => {
  const bench = new Bench()
  const extra = [[0x7abc, Buffer.alloc(4)] as const]
  assert.equal(bench.receive(check({ extra }), path(CLIENT)), 'unknown_attribute')
  assert.equal(ours(bench.sent[0]!.bytes).errorCode, 420)
  assert.ok(bench.sent[0]!.bytes.includes(Buffer.from('000a00027abc', 'hex')))
  assert.equal(bench.receive(check({ extra, pwd: 'x' }), path(CLIENT)), 'unauthenticated')
  assert.deepEqual([bench.sent.length, bench.events.length], [1, 0])
})

test('an answer counts only from the address it was sent to, with its transaction and the client’s password', () => {
  const bench = new Bench()
  bench.receive(check(), path(CLIENT))
  const [own] = bench.checksTo(CLIENT)
  assert.equal(bench.receive(answer(own!), path(EVIL)), 'unexpected')
  assert.equal(bench.receive(answer(own!, OURS.pwd), path(CLIENT)), 'unexpected')
  const other = Buffer.from(own!)
  other[19]! ^= 1
  assert.equal(bench.receive(answer(other), path(CLIENT)), 'unexpected')
  assert.equal(bench.receive(seal(0x0111, own!.subarray(8, 20), THEIRS.pwd, []), path(CLIENT)), 'ignored')
  assert.equal(bench.agent.selected, undefined)
  assert.equal(bench.receive(answer(own!), path(CLIENT)), 'validated')
  assert.equal(bench.receive(answer(own!), path(CLIENT)), 'unexpected')
})

test('three tries, one transaction; an answer to the first counts late; then a new check begins anew', () => {
  const bench = new Bench()
  bench.receive(check(), path(CLIENT))
  for (let i = 0; i < 4; i++) bench.receive(check({ id: randomBytes(12) }), path(CLIENT))
  bench.wait(1900)
  const tries = bench.checksTo(CLIENT)
  assert.equal(tries.length, 3)
  assert.ok(tries[0]!.equals(tries[2]!))
  bench.wait(200)
  assert.equal(bench.agent.busy, false)
  assert.equal(bench.receive(answer(tries[0]!), path(CLIENT)), 'unexpected')
  bench.receive(check(), path(CLIENT))
  const again = bench.checksTo(CLIENT).at(-1)!
  assert.ok(!again.subarray(8, 20).equals(tries[0]!.subarray(8, 20)))
  bench.wait(1900)
  assert.equal(bench.receive(answer(again), path(CLIENT)), 'validated')
})

test('amplification: an address that never answers gets at most three times what it sent', () => {
  const bench = new Bench()
  const one = check()
  bench.receive(one, path(EVIL))
  bench.wait(30_000)
  for (let i = 0; i < 1000; i++) {
    const allowed = bench.agent.maySend(path(EVIL), 120)
    if (allowed) bench.sent.push({ bytes: Buffer.alloc(120), path: path(EVIL) })
    bench.receive(one, path(EVIL))
    bench.wait(20)
    assert.ok(bench.bytesTo(EVIL) <= 3 * one.length * (i + 2))
  }
  assert.equal(bench.agent.selected, undefined)
})

test('amplification: nothing but answers goes to an address that was never authenticated', () => {
  const bench = new Bench()
  bench.agent.heard(path(EVIL), 1000)
  assert.equal(bench.agent.maySend(path(EVIL), 1), false)
  bench.agent.authenticated(bench.now, path(EVIL))
  bench.agent.validated(bench.now, path(EVIL))
  assert.deepEqual([bench.agent.selected, bench.sent.length], [undefined, 0])
})

test('a DTLS handshake validates the address that it was held with', () => {
  const bench = new Bench()
  bench.receive(check(), path(CLIENT))
  bench.agent.validated(bench.now, path(CLIENT))
  assert.equal(bench.agent.selected, undefined, 'nothing of the handshake was sent there')
  bench.agent.heard(path(CLIENT), 300)
  assert.equal(bench.agent.maySend(path(CLIENT), 700), true)
  bench.agent.validated(bench.now, path(CLIENT))
  assert.equal(bench.selected, CLIENT)
  assert.equal(bench.agent.busy, false)
})

test('address change in mid-call: media follows when the new address has answered, not before', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  bench.agent.authenticated(bench.now, path(CLIENT))
  bench.wait(5000)
  bench.receive(check(), path(MOVED))
  assert.equal(bench.selected, CLIENT)
  bench.receive(answer(bench.checksTo(MOVED)[0]!), path(MOVED))
  assert.equal(bench.selected, MOVED)
})

test('address change and back again: media from the old address moves it back at once', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  bench.join(path(MOVED))
  assert.equal(bench.selected, MOVED)
  bench.agent.authenticated(bench.now, path(CLIENT))
  assert.equal(bench.selected, CLIENT)
})

test('another relay for the same client is taken at once, by a fresh check or by media', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  bench.agent.authenticated(bench.now, path(CLIENT))
  bench.receive(check(), path(CLIENT, undefined, '10.0.0.2:5000'))
  assert.equal(bench.agent.selected!.relay!.toString(), '10.0.0.2:5000')
  bench.agent.authenticated(bench.now, path(CLIENT, undefined, '10.0.0.3:5000'))
  assert.equal(bench.agent.selected!.relay!.toString(), '10.0.0.3:5000')
  assert.equal(bench.selections.length, 3)
  assert.equal(bench.checksTo(CLIENT).length, 1)
})

test('another address of ours for the same client needs no new proof', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  bench.receive(check(), path(CLIENT, '198.51.100.2:3478'))
  assert.equal(bench.agent.selected!.local.toString(), '198.51.100.2:3478')
  bench.agent.authenticated(bench.now, path(CLIENT, '198.51.100.3:3478'))
  assert.equal(bench.agent.selected!.local.toString(), '198.51.100.3:3478')
  assert.equal(bench.checksTo(CLIENT).length, 1)
})

test('the highest PRIORITY among pairs checked within 13 s carries media, without flapping', () => {
  const bench = new Bench()
  bench.join(path(CLIENT), { priority: 100 })
  bench.join(path(MOVED), { priority: 200 })
  assert.equal(bench.selected, MOVED)
  for (let i = 0; i < 20; i++) {
    bench.wait(2500)
    bench.receive(check({ priority: i % 2 ? 200 : 100 }), path(i % 2 ? MOVED : CLIENT))
  }
  assert.deepEqual([bench.selected, bench.selections.length], [MOVED, 2])
  bench.wait(13_001)
  assert.equal(bench.selected, MOVED, 'none is fresher: the current one stays')
  bench.receive(check({ priority: 100 }), path(CLIENT))
  assert.equal(bench.selected, CLIENT)
  bench.receive(check({ priority: 200 }), path(MOVED))
  assert.equal(bench.selected, MOVED)
})

test('aggressive nomination of pairs of equal PRIORITY does not flap either', () => {
  const bench = new Bench()
  const ways = [path(CLIENT), path(CLIENT, '198.51.100.2:3478'), path(MOVED)]
  for (const way of ways) bench.join(way)
  const before = bench.selections.length
  for (let i = 0; i < 60; i++) {
    bench.wait(500)
    bench.receive(check(), ways[i % 3]!)
  }
  assert.equal(bench.selections.length, before)
})

test('a client that sends its media from a pair of lower PRIORITY alone is followed after a second', () => {
  const bench = new Bench()
  bench.join(path(CLIENT), { priority: 200 })
  bench.agent.authenticated(bench.now, path(CLIENT))
  bench.join(path(MOVED), { priority: 100 })
  for (let i = 0; i < 40; i++) bench.agent.authenticated(bench.now + i * 20, path(MOVED))
  assert.equal(bench.selected, CLIENT)
  bench.agent.authenticated(bench.now + 1000, path(MOVED))
  assert.equal(bench.selected, MOVED)
  bench.now += 1100
  bench.receive(check({ priority: 200 }), path(CLIENT))
  assert.equal(bench.selected, MOVED, 'a check alone does not bring it back')
  bench.agent.authenticated(bench.now, path(CLIENT))
  assert.equal(bench.selected, CLIENT)
})

test('ICE restart: both credentials are accepted until the new are used; media and addresses stay', () => {
  const bench = new Bench()
  const remote = { ufrag: 'newufrag', pwd: 'our-new-password-of-24-c' }
  const local = { ufrag: 'newb', pwd: 'their-new-password-24-ch' }
  bench.join(path(CLIENT))
  bench.agent.restart(remote, local)
  assert.equal(bench.receive(check(), path(CLIENT)), 'answered')
  assert.equal(bench.receive(check({ local, remote, pwd: OURS.pwd }), path(CLIENT)), 'unauthenticated')
  assert.ok(!bench.events.includes('restarted'))
  assert.equal(bench.receive(check({ local, remote }), path(CLIENT)), 'answered')
  assert.ok(bench.events.includes('restarted'))
  assert.equal(bench.receive(check(), path(CLIENT)), 'unauthenticated')
  assert.deepEqual([bench.selected, bench.selections.length], [CLIENT, 1])
})

test('ICE restart to a new address: the path check uses the new credentials', () => {
  const bench = new Bench()
  const remote = { ufrag: 'newufrag', pwd: 'our-new-password-of-24-c' }
  const local = { ufrag: 'newb', pwd: 'their-new-password-24-ch' }
  bench.join(path(CLIENT))
  bench.agent.restart(remote, local)
  bench.receive(check({ local, remote }), path(MOVED))
  const own = bench.checksTo(MOVED)[0]!
  assert.ok(ours(own).hasUsername(Buffer.from('newb:newufrag')))
  assert.equal(bench.receive(answer(own, local.pwd), path(MOVED)), 'validated')
  assert.equal(bench.selected, MOVED)
})

test('at most eight addresses are remembered; the selected one is never pushed out', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  for (let i = 0; i < 100; i++) bench.receive(check(), path(`192.0.2.9:${1000 + i}`))
  assert.equal(bench.events.filter((event) => event.startsWith('opened')).length, 101)
  assert.equal(bench.events.filter((event) => event.startsWith('forgotten')).length, 93)
  assert.ok(!bench.events.includes(`forgotten ${CLIENT}`))
  assert.equal(bench.selected, CLIENT)
})

test('when all eight are validated, the longest unchecked goes', () => {
  const bench = new Bench()
  for (let i = 0; i < 8; i++) {
    bench.join(path(`192.0.2.9:${1000 + i}`), { priority: 1000 - i })
    bench.wait(100)
  }
  bench.receive(check(), path(CLIENT))
  assert.equal(bench.events.at(-3), 'validated 192.0.2.9:1007')
  assert.equal(bench.events.at(-2), 'forgotten 192.0.2.9:1001')
})

test('addresses that fell silent are forgotten when the next one comes', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  bench.join(path(MOVED))
  bench.wait(60_001)
  bench.join(path('203.0.113.5:40002'), { priority: PRIORITY })
  assert.deepEqual(
    bench.events.filter((event) => event.startsWith('forgotten')),
    [`forgotten ${CLIENT}`],
  )
})

test('answers of strangers’ making, indications and other methods do nothing', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  bench.sent.length = 0
  assert.equal(bench.receive(seal(0x0011, randomBytes(12), OURS.pwd, []), path(CLIENT)), 'ignored')
  assert.equal(bench.receive(seal(0x0003, randomBytes(12), OURS.pwd, []), path(CLIENT)), 'ignored')
  assert.equal(bench.receive(seal(0x0101, randomBytes(12), THEIRS.pwd, []), path(CLIENT)), 'unexpected')
  assert.equal(bench.receive(Buffer.alloc(0), path(CLIENT)), 'malformed')
  assert.equal(bench.sent.length, 0)
})

test('a captured check from an address that is known but unproven is answered and does nothing else', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  const captured = check()
  bench.receive(captured, path(CLIENT))
  bench.receive(check(), path(EVIL))
  bench.wait(2100)
  bench.sent.length = 0
  assert.equal(bench.receive(captured, path(EVIL)), 'repeated')
  assert.deepEqual([bench.sent.length, bench.agent.busy], [1, false])
})

test('a copy that came first from elsewhere leaves consent to the client’s own, but no move and no PRIORITY', () => {
  const bench = new Bench()
  bench.join(path(CLIENT), { priority: 200 })
  bench.join(path(MOVED), { priority: 100 })
  const copied = check({ priority: 1 })
  bench.receive(copied, path(EVIL))
  bench.wait(100)
  assert.equal(bench.receive(copied, path(CLIENT, undefined, '10.0.0.9:9')), 'answered')
  assert.equal(bench.agent.lastCheckAt, bench.now)
  assert.equal(bench.selected, CLIENT)
  assert.equal(bench.agent.selected!.relay!.toString(), '10.0.0.1:5000')
})

test('media from an unproven address begins a check of it when none is under way', () => {
  const bench = new Bench()
  bench.join(path(CLIENT))
  bench.receive(check(), path(MOVED))
  bench.wait(2100)
  const before = bench.checksTo(MOVED).length
  bench.agent.heard(path(MOVED), 200)
  bench.agent.authenticated(bench.now, path(MOVED))
  bench.agent.authenticated(bench.now, path(MOVED))
  assert.equal(bench.checksTo(MOVED).length, before + 1)
  assert.equal(bench.selected, CLIENT)
  bench.receive(answer(bench.checksTo(MOVED).at(-1)!), path(MOVED))
  assert.equal(bench.selected, MOVED)
})

test('an unproven address makes room before a proven one, however long that is unchecked', () => {
  const bench = new Bench()
  bench.join(path(MOVED), { priority: 1 })
  bench.wait(1000)
  bench.join(path(CLIENT))
  for (let i = 0; i < 7; i++) bench.receive(check(), path(`192.0.2.9:${1000 + i}`))
  assert.deepEqual(
    bench.events.filter((event) => event.startsWith('forgotten')),
    ['forgotten 192.0.2.9:1000'],
  )
})

test('an address that was forgotten is not followed any more', () => {
  const bench = new Bench()
  bench.join(path(MOVED), { priority: 1 })
  bench.join(path(CLIENT), { priority: 100 })
  bench.agent.authenticated(bench.now, path(MOVED))
  bench.wait(10)
  for (let i = 0; i < 7; i++) bench.join(path(`192.0.2.9:${1000 + i}`), { priority: 0 })
  assert.ok(bench.events.includes(`forgotten ${MOVED}`))
  bench.wait(1500)
  bench.receive(check({ priority: 100 }), path(CLIENT))
  assert.equal(bench.selected, CLIENT)
})
