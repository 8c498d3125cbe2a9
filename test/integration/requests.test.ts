/** Requests that ask for what there is not: the right status, one shape of error, and nothing left behind. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ErrorCode } from '../../core/index.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { randomCredentials, writeOffer } from '../peers/offer.ts'
import { postTo } from '../peers/signaling.ts'
import { edgeConfig } from './support/configs.ts'
import { assertWhole, Conversation } from './support/conversation.ts'
import { assertHandles, handles } from './support/handles.ts'
import { type Asked, ask, assertRefused, type HttpAnswer, ORIGIN } from './support/http.ts'

const CALLS = '/v1/realtime/calls'
const ALICE = 'alice-has-a-long-key'
const BOB = 'bob-has-another-one'
const SDP = { 'content-type': 'application/sdp' }
const as = (key: string) => ({ authorization: `Bearer ${key}` })
const AT_START = handles()

const GOOD = writeOffer({ ...randomCredentials(), fingerprint: Array(32).fill('AB').join(':') })
const [SESSION, AUDIO, DATA] = GOOD.split(/^(?=m=)/m)
const VIDEO = AUDIO!
  .replace(/^m=audio .*/, 'm=video 9 UDP/TLS/RTP/SAVPF 96')
  .replace(/a=rtpmap:111 .*/, 'a=rtpmap:96 VP8/90000')
  .replace(/a=(rtpmap|fmtp):11[01] .*\r\n/g, '')

/** Offers that are refused: name, body, status, code. */
const REFUSED: readonly [name: string, body: string | Buffer, status: number, code: ErrorCode][] = [
  ['no body', '', 400, 'invalid_sdp'],
  ['not SDP', 'hello, is anybody there?', 400, 'invalid_sdp'],
  ['JSON', JSON.stringify({ type: 'offer', sdp: GOOD }), 400, 'invalid_sdp'],
  ['not UTF-8', Buffer.concat([Buffer.from(GOOD), Buffer.of(0xff, 0xfe)]), 400, 'invalid_sdp'],
  ['no media at all', SESSION!, 422, 'no_audio'],
  ['video only', `${SESSION}${VIDEO}`, 422, 'no_audio'],
  ['a data channel only', `${SESSION}${DATA}`, 422, 'no_audio'],
  ['audio that is rejected by its own offer', GOOD.replace('m=audio 9', 'm=audio 0'), 422, 'no_audio'],
  ['audio without Opus', GOOD.replaceAll('opus/48000/2', 'G722/8000'), 422, 'no_audio'],
  ['no fingerprint', GOOD.replace(/a=fingerprint.*\r\n/g, ''), 400, 'invalid_sdp'],
  ['a weak fingerprint', GOOD.replaceAll('sha-256', 'sha-1'), 422, 'unsupported_offer'],
  ['no ICE', GOOD.replace(/a=ice-(ufrag|pwd).*\r\n/g, ''), 400, 'invalid_sdp'],
  ['setup:holdconn', GOOD.replaceAll('setup:actpass', 'setup:holdconn'), 422, 'unsupported_offer'],
  ['1 MB of SDP', GOOD + 'a=x:y\r\n'.repeat(150_000), 413, 'payload_too_large'],
]

let edge: TestEdge

const send = (asked: Asked): Promise<HttpAnswer> => ask(edge.origin, asked)
const offer = (body: string | Buffer, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
  send({ method: 'POST', path: CALLS, body, headers: { ...SDP, ...as(ALICE), ...headers } })
const post = (key: string) => postTo(edge.origin, { key })

/** No call, and nothing that leads to one. */
async function assertEmpty(): Promise<void> {
  assert.equal(/[1-9]/.test(JSON.stringify(await edge.sessions())), false)
}

describe('requests', () => {
  let open: string[]

  before(async () => {
    edge = await startEdge({ config: edgeConfig({ http: { keys: { alice: ALICE, bob: BOB } } }) })
    open = handles()
  })

  after(async () => {
    await edge?.close()
  })

  for (const [name, body, status, code] of REFUSED) {
    it(`an offer: ${name} → ${status} ${code}`, async () => {
      assertRefused(await offer(body), status, code)
      await assertEmpty()
    })
  }

  it('an offer under another content type, or none → 415', async () => {
    for (const type of ['text/plain', 'application/json', 'multipart/mixed', '']) {
      assertRefused(await offer(GOOD, { 'content-type': type }), 415, 'unsupported_media_type')
    }
    await assertEmpty()
  })

  it('an offer without a key, with a wrong one, or with something else → 401', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer nobody-has-this-key', `Basic ${ALICE}`, ALICE]) {
      const answer = await offer(GOOD, { authorization })
      assertRefused(answer, 401, 'unauthorized')
      assert.equal(answer.headers['www-authenticate'], 'Bearer')
    }
    await assertEmpty()
  })

  it('other methods → 405, and they are told which one', async () => {
    for (const [path, ...allowed] of [
      [CALLS, 'POST'],
      [`${CALLS}/rtc_x`, 'GET', 'DELETE'],
      [`${CALLS}/rtc_x/hangup`, 'POST'],
    ]) {
      for (const method of ['GET', 'PUT', 'PATCH', 'POST', 'DELETE']) {
        if (allowed.includes(method)) continue
        const answer = await send({ method, path: path!, headers: as(ALICE) })
        assertRefused(answer, 405, 'method_not_allowed')
        assert.equal(answer.headers.allow, [...allowed, 'OPTIONS'].join(', '))
      }
    }
    await assertEmpty()
  })

  it('a path that does not exist → 404', async () => {
    for (const path of ['/', '/v1/realtime/x', `${CALLS}/rtc_x/hangup/x`, '/v1/%zz', '/../../etc/passwd']) {
      const answer = await send({ method: 'POST', path, headers: as(ALICE) })
      assertRefused(answer, answer.status, answer.status === 400 ? 'bad_request' : 'not_found')
      assert.ok(answer.status === 404 || path.includes('%'))
    }
  })

  it('a preflight is answered for a page that may ask, and for no other', async () => {
    const headers = { 'access-control-request-method': 'POST' }
    const answer = await send({ method: 'OPTIONS', path: CALLS, headers })
    assert.equal(answer.status, 204)
    assert.equal(answer.headers['access-control-allow-origin'], ORIGIN)
    const other = await send({
      method: 'OPTIONS',
      path: CALLS,
      headers: { ...headers, origin: 'https://evil.example' },
    })
    assert.equal(other.headers['access-control-allow-origin'], undefined)
  })

  it('setup:passive is served: the edge is the DTLS client', async () => {
    await using client = await TestClient.connect(post(ALICE), { setup: 'passive' })
    assert.equal(client.answer?.setup, 'active')
    using talk = new Conversation(client)
    await talk.exchange(25)
    assertWhole(await talk.finish())
    assert.equal((await send(hangUp(client.url!, ALICE))).status, 200)
    assert.equal(await client.ended, 'close_notify')
    await assertEmpty()
  })

  it('the end of a call: once for who began it, and for nobody else', async () => {
    await using client = await TestClient.connect(post(ALICE))
    using talk = new Conversation(client)
    const id = client.url!.split('/').at(-1)!
    const { ufrag } = client.answer!
    const guesses = {
      'another caller': hangUp(client.url!, BOB),
      'a guess from the ufrag': hangUp(`${CALLS}/rtc_${ufrag}${'0'.repeat(32)}`, ALICE),
      'the ufrag itself': hangUp(`${CALLS}/${ufrag}`, ALICE),
      'a wrong secret': hangUp(`${CALLS}/${id.slice(0, -32)}${'0'.repeat(32)}`, ALICE),
      'a secret that is off by one bit': hangUp(`${CALLS}/${flipLast(id)}`, ALICE),
      'another spelling': hangUp(`${CALLS}/${id.toUpperCase()}`, ALICE),
      'one character more': hangUp(`${CALLS}/${id}0`, ALICE),
      'no id': hangUp(`${CALLS}/%20`, ALICE),
      'an unknown id': hangUp(`${CALLS}/rtc_${'a'.repeat(74)}${'0'.repeat(32)}`, ALICE),
      'a malformed id': hangUp(`${CALLS}/..%2f..%00`, ALICE),
      'a very long id': hangUp(`${CALLS}/rtc_${'a'.repeat(500)}`, ALICE),
    }
    let said: string | undefined
    for (const [what, asked] of Object.entries(guesses)) {
      for (const method of ['POST', 'DELETE', 'GET']) {
        const path = method === 'POST' ? asked.path : asked.path.replace('/hangup', '')
        const answer = await send({ ...asked, method, path })
        assertRefused(answer, 404, 'call_not_found')
        said ??= answer.body
        assert.equal(answer.body, said, `${what} is told from the others`)
      }
    }
    assertRefused(await send({ method: 'POST', path: pathOf(client.url!) }), 401, 'unauthorized')
    await talk.exchange(25)
    assertWhole(await talk.finish())
    assert.equal((await send(hangUp(client.url!, ALICE))).status, 200)
    assert.deepEqual(await client.events.take(), { type: 'session.ended', reason: 'hang_up' })
    assert.equal(await client.ended, 'close_notify')
    assertRefused(await send(hangUp(client.url!, ALICE)), 404, 'call_not_found')
    await assertEmpty()
  })

  it('a call that is ended before it is connected, by DELETE', async () => {
    const { url } = await post(ALICE)(GOOD)
    assert.equal((await edge.sessions()).total, 1)
    const path = pathOf(url!).replace('/hangup', '')
    assert.equal((await send({ method: 'DELETE', path, headers: as(ALICE) })).status, 200)
    await assertEmpty()
    assertRefused(await send({ method: 'DELETE', path, headers: as(ALICE) }), 404, 'call_not_found')
  })

  it('leave no handle behind', async () => {
    await assertHandles(open)
    await edge.close()
    await assertHandles(AT_START)
  })
})

describe('an edge that takes no more', () => {
  it('because all lines are taken → 503 with Retry-After, until one is free', async () => {
    edge = await startEdge({ config: edgeConfig({ transceiver: { maxCalls: 1 } }) })
    try {
      const { url } = await edge.post(GOOD)
      assertRefused(await offer(GOOD), 503, 'too_many_calls')
      assert.equal((await edge.sessions()).total, 1)
      assert.equal(await edge.hangUp(url!), 200)
      await assertEmpty()
      assert.equal((await offer(GOOD)).status, 201)
    } finally {
      await edge.close()
    }
  })

  it('from one key → 429 with Retry-After, while others are served', async () => {
    const limits = { requestsPerMinute: 4, keys: { alice: { callsPerKey: 1 } } }
    edge = await startEdge({
      config: edgeConfig({ http: { keys: { alice: ALICE, bob: BOB } }, transceiver: { limits } }),
    })
    try {
      assert.equal((await offer(GOOD)).status, 201)
      assertRefused(await offer(GOOD), 429, 'key_limit_reached')
      for (let i = 0; i < 2; i++) assertRefused(await offer('hello'), 429, 'key_limit_reached')
      assertRefused(await offer(GOOD), 429, 'rate_limited')
      for (let i = 0; i < 2; i++) assert.equal((await offer(GOOD, as(BOB))).status, 201)
      assert.equal((await edge.sessions()).total, 3)
    } finally {
      await edge.close()
    }
  })

  it('because it is draining → 503 with Retry-After, while the calls there are go on', async () => {
    edge = await startEdge({ config: edgeConfig(), drainSeconds: 60 })
    await using client = await TestClient.connect(edge.post)
    using talk = new Conversation(client)
    const closed = edge.close()
    assertRefused(await offer(GOOD), 503, 'draining')
    assert.equal((await edge.sessions()).total, 1)
    await talk.exchange(25)
    assertWhole(await talk.finish())
    await client.close()
    await closed
  })
})

function pathOf(url: string): string {
  return `${url.slice(url.indexOf(CALLS))}/hangup`
}

function hangUp(url: string, key: string): Asked {
  return { method: 'POST', path: pathOf(url), headers: as(key) }
}

function flipLast(id: string): string {
  return `${id.slice(0, -1)}${(Number.parseInt(id.at(-1)!, 16) ^ 1).toString(16)}`
}
