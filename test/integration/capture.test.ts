/** Nobody takes a call, or a packet of it, from who is in it: not by spoofing, replaying or forging. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import {
  IntegrityKey,
  STUN_BINDING_REQUEST,
  STUN_ROOM,
  TRANSACTION_ID,
  writeBindingSuccess,
} from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { LossyLink } from '../../core/testing/lossy-link.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { edgeConfig, transceiverConfig } from './support/configs.ts'
import { assertWhole, Conversation } from './support/conversation.ts'
import { counted, counter } from './support/metrics.ts'
import { checkOf, type Known, Stranger } from './support/stranger.ts'

/** How an attacker sends: `burst` checks every `everyMs`, `times` over. */
const RATES = [
  { everyMs: 1000, burst: 1, times: 3 },
  { everyMs: 100, burst: 1, times: 15 },
  { everyMs: 20, burst: 1, times: 60 },
  { everyMs: 500, burst: 60, times: 3 },
] as const

const KEY = { keys: [{ id: 7, key: randomBytes(16).toString('hex') }] }

function knownOf(client: TestClient): Known {
  return { local: client.credentials, remote: client.answer! }
}

/** A victim behind a link, so that others can send from its address. */
async function call(edge: TestEdge, checkEveryMs = 2500) {
  const link = await LossyLink.open({ server: edge.bound[0]! })
  const victim = await TestClient.connect(edge.post, { via: link.address, checkEveryMs })
  return {
    link,
    victim,
    async [Symbol.asyncDispose]() {
      await victim.close()
      await link.close()
    },
  }
}

/** Does `run` that often, and resolves after the last time. */
function repeat(times: number, everyMs: number, run: () => void): Promise<void> {
  return new Promise((resolve) => {
    let left = times
    const timer = setInterval(() => {
      run()
      if (--left > 0) return
      clearInterval(timer)
      resolve()
    }, everyMs)
  })
}

/** The session that an attacker holds got nothing of anybody else's. */
async function assertGotNothing(edge: TestEdge, attacker: TestClient): Promise<void> {
  const { sessions } = await edge.sessions()
  const own = sessions.find(({ client }) => client === attacker.local.toString())
  assert.equal(own?.packetsReceived, 0)
  assert.equal(attacker.audio.total, 0)
  assert.equal(attacker.events.total, 0)
}

/** Every rate in turn, then the attacker's end; all in one conversation of the victim's, of which nothing is lost. */
async function attack(t: TestContext, edge: TestEdge, other: TestEdge): Promise<void> {
  await using caller = await call(edge)
  const { link, victim } = caller
  await using opened = new AsyncDisposableStack()
  const attackers = await Promise.all([1, 2, 3].map(() => TestClient.connect(other.post)))
  for (const attacker of attackers) opened.use(attacker)
  using talk = new Conversation(victim)
  let sent = 0
  for (const { everyMs, burst, times } of RATES) {
    const strange = victim.transport.checks!.counters.strange
    await repeat(times, everyMs, () => {
      for (let i = 0; i < burst; i++) {
        void link.spoof(checkOf(knownOf(attackers[sent++ % attackers.length]!)))
      }
    })
    // The attack was real: its checks were answered, to where they seemed to come from.
    await eventually('answers to the attacker’s checks reach the victim', () => {
      return victim.transport.checks!.counters.strange > strange
    })
    for (const attacker of attackers) await assertGotNothing(other, attacker)
  }
  for (const attacker of attackers) await attacker.close()
  await eventually('the attackers’ sessions are gone', async () => {
    return (await other.sessions()).total === (other === edge ? 1 : 0)
  })
  await talk.exchange(50)
  const account = await talk.finish()
  const answered = await counter(other, 'transceiver_stun', { outcome: 'answered' })
  t.diagnostic(`${sent} spoofed checks, ${answered} checks answered by the attacker's transceiver`)
  t.diagnostic(
    `victim: ${account.sent} packets sent, ${account.heard.length} heard, ${account.lost} lost, ${account.eventsHeard.length} events`,
  )
  assertWhole(account)
  assert.equal((await edge.sessions()).sessions[0]!.lost, 0)
}

describe('an attacker sends checks for its own session from the victim’s address', () => {
  it('on the same transceiver', async (t) => {
    await using edge = await startEdge()
    await attack(t, edge, edge)
  })

  it('on another transceiver behind the same relay', async (t) => {
    await using edge = await startEdge({ config: edgeConfig({ codec: KEY }) })
    const node = { advertise: [edge.bound[0]!.toString()] }
    await using other = await startEdge({ config: transceiverConfig({ codec: KEY, node }) })
    await attack(t, edge, other)
  })

  it('before and while the victim connects', async () => {
    await using edge = await startEdge()
    await using attacker = await TestClient.connect(edge.post)
    await using link = await LossyLink.open({ server: edge.bound[0]! })
    await using victim = await TestClient.open({ via: link.address })
    // Makes the link give the victim its address.
    victim.sendRaw(Buffer.of(0xff), link.address)
    await eventually('the link knows the victim', async () => (await link.clients()).length === 1)
    await link.spoof(checkOf(knownOf(attacker)))
    await counted(edge, 'transceiver_stun', { outcome: 'answered' }, 2)
    const hammering = repeat(100, 5, () => void link.spoof(checkOf(knownOf(attacker))))
    victim.accept(await edge.post(victim.offer))
    await victim.connected()
    using talk = new Conversation(victim)
    await hammering
    await talk.exchange(25)
    assertWhole(await talk.finish())
    await assertGotNothing(edge, attacker)
  })
})

describe('somebody who saw the victim’s packets', () => {
  /** Runs in a call whose every packet must arrive, and at whose end it still goes to the victim. */
  async function unharmed(
    run: (around: {
      edge: TestEdge
      link: LossyLink
      victim: TestClient
      stranger: Stranger
      firstCheck: Buffer
    }) => Promise<void>,
  ): Promise<void> {
    await using edge = await startEdge()
    await using link = await LossyLink.open({ server: edge.bound[0]! })
    const checks: Buffer[] = []
    link.tap = (direction, datagram) => {
      if (direction === 'up' && datagram.readUInt16BE(0) === STUN_BINDING_REQUEST) checks.push(datagram)
      return datagram
    }
    await using victim = await TestClient.connect(edge.post, { via: link.address })
    await using stranger = await Stranger.open(edge.bound[0]!)
    using talk = new Conversation(victim)
    await run({ edge, link, victim, stranger, firstCheck: checks[0]! })
    await talk.exchange(25)
    assertWhole(await talk.finish())
    const { total, bound, sessions } = await edge.sessions()
    assert.equal(total, 1)
    assert.equal(sessions[0]!.client, (await link.mapped()).toString())
    assert.ok(
      JSON.stringify(bound)
        .match(/\d+/g)!
        .every((n) => Number(n) <= 8),
      JSON.stringify(bound),
    )
  }

  it('sends its first check again from another address: not a byte comes back', () =>
    unharmed(async ({ edge, stranger, firstCheck }) => {
      for (let i = 0; i < 20; i++) stranger.send(firstCheck)
      await counted(edge, 'transceiver_stun', { outcome: 'replayed' }, 20)
      assert.equal(stranger.received.length, 0)
    }))

  it('sends it again from the victim’s own address: it is answered there, and that is all', () =>
    unharmed(async ({ edge, link, firstCheck }) => {
      for (let i = 0; i < 20; i++) await link.spoof(firstCheck)
      await counted(edge, 'transceiver_stun', { outcome: 'repeated' }, 20)
    }))

  it('sends it once it is forgotten, and forges the answer to our check: the address stays unproven', () =>
    unharmed(async ({ edge, victim, stranger, firstCheck }) => {
      const { checks } = victim.transport
      const answered = checks!.counters.answered
      // Each of these pushes the first one further out of the session's memory.
      for (let i = 0; i < 300; i++) checks!.start(performance.now())
      await eventually('they were answered', () => checks!.counters.answered >= answered + 1)
      await counted(edge, 'transceiver_stun', { outcome: 'answered' }, 300)
      stranger.send(firstCheck)
      const isRequest = (one: Buffer): boolean => one.readUInt16BE(0) === STUN_BINDING_REQUEST
      await eventually('our own check comes', () => stranger.received.some(isRequest))
      const request = stranger.received.find(isRequest)!
      const before = await counter(edge, 'transceiver_drops', { reason: 'unexpected_stun' })
      const { credentials, answer } = victim
      const keys = ['', 'guess', answer!.pwd, credentials.ufrag, credentials.pwd.slice(1)]
      for (const key of keys) stranger.send(success(request, 8, stranger, key))
      await counted(edge, 'transceiver_drops', { reason: 'unexpected_stun' }, before + keys.length)
      assert.equal(await counter(edge, 'transceiver_stun', { outcome: 'validated' }), 1)
      assert.ok(stranger.bytesReceived <= 3 * stranger.bytesSent)
      assert.ok(
        stranger.received.every((one) => one[0]! < 4),
        'nothing but STUN went there',
      )
    }))

  it('forges success responses, from the victim’s address and from elsewhere', () =>
    unharmed(async ({ edge, link, victim, stranger, firstCheck }) => {
      const before = await counter(edge, 'transceiver_drops', { reason: 'unexpected_stun' })
      for (let i = 0; i < 25; i++) {
        const [id, at] = i % 2 === 0 ? [firstCheck, 8] : ([randomBytes(TRANSACTION_ID), 0] as const)
        // Even by somebody who knows the victim's password.
        const forged = success(id, at, stranger, i % 3 === 0 ? victim.credentials.pwd : 'guess')
        await link.spoof(forged)
        stranger.send(forged)
      }
      await counted(edge, 'transceiver_drops', { reason: 'unexpected_stun' }, before + 25)
      await counted(edge, 'relay_drops', { reason: 'no_route' }, 25)
      assert.equal(stranger.received.length, 0)
    }))

  it('sends checks with a forged ufrag', () =>
    unharmed(async ({ edge, link, victim, stranger }) => {
      for (let i = 0; i < 25; i++) {
        const remote = { ufrag: forgedUfrag(victim.answer!.ufrag, i), pwd: victim.answer!.pwd }
        const forged = checkOf({ local: victim.credentials, remote })
        await link.spoof(forged)
        stranger.send(forged)
      }
      await counted(edge, 'relay_drops', { reason: 'unroutable_ufrag' }, 50)
      assert.equal(stranger.received.length, 0)
    }))

  it('sends checks with the victim’s own ufrag, from its address and from elsewhere, without the password', () =>
    unharmed(async ({ edge, link, victim, stranger }) => {
      const known = knownOf(victim)
      for (let i = 0; i < 25; i++) {
        const forged = checkOf({ ...known, remote: { ufrag: known.remote.ufrag, pwd: 'guess' } })
        await link.spoof(forged)
        stranger.send(forged)
      }
      await counted(edge, 'transceiver_stun', { outcome: 'unauthenticated' }, 50)
      assert.equal(stranger.received.length, 0)
    }))

  it('sends its media and DTLS again, from its address and from elsewhere', () =>
    unharmed(async ({ edge, link, stranger }) => {
      const captured: Buffer[] = []
      link.tap = (direction, datagram) => {
        if (direction === 'up' && datagram[0]! >= 20) captured.push(datagram)
        return datagram
      }
      await eventually('some packets went by', () => captured.length >= 20)
      for (const packet of captured.slice(0, 20)) {
        await link.spoof(packet)
        stranger.send(packet)
      }
      await counted(edge, 'relay_drops', { reason: 'no_route' }, 20)
      assert.equal(stranger.received.length, 0)
    }))
})

/** A success response to the request whose transaction id is at `at`. */
function success(id: Buffer, at: number, from: Stranger, key: string): Buffer {
  const out = Buffer.alloc(STUN_ROOM)
  return out.subarray(0, writeBindingSuccess(out, 0, id, at, from.local, new IntegrityKey(key)))
}

/** The victim's ufrag with one character changed. */
function forgedUfrag(ufrag: string, n: number): string {
  const at = (n * 7) % ufrag.length
  return `${ufrag.slice(0, at)}${ufrag[at] === 'a' ? 'b' : 'a'}${ufrag.slice(at + 1)}`
}
