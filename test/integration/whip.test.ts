/** WHIP over plain HTTP, by curl, and with the offer that OBS sends. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { eventually } from '../../core/testing/check.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { randomCredentials, writeOffer } from '../peers/offer.ts'
import { edgeConfig } from './support/configs.ts'

const KEY = 'alice-has-a-long-key'
const FRAGMENT = 'Content-Type: application/trickle-ice-sdpfrag'
const OFFER = writeOffer({ ...randomCredentials(), fingerprint: Array(32).fill('AB').join(':') })
const run = promisify(execFile)

let edge: TestEdge

interface CurlAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** What curl gets of a path of the edge's. */
async function curl(
  method: string,
  path: string,
  headers: readonly string[] = [],
  body?: string,
): Promise<CurlAnswer> {
  const given = [`Authorization: Bearer ${KEY}`, ...headers].flatMap((header) => ['-H', header])
  const data = body === undefined ? [] : ['--data-binary', body]
  const { stdout } = await run('curl', ['-s', '-i', '-X', method, ...given, ...data, `${edge.origin}${path}`])
  const split = stdout.indexOf('\r\n\r\n')
  const [status, ...lines] = stdout.slice(0, split).split('\r\n')
  return {
    status: Number(status!.split(' ')[1]),
    headers: new Headers(
      lines.map((line): [string, string] => [
        line.slice(0, line.indexOf(':')),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    ),
    body: stdout.slice(split + 4),
  }
}

const post = (offer: string) => curl('POST', '/whip', ['Content-Type: application/sdp'], offer)
const total = async () => (await edge.sessions()).total

describe('WHIP', () => {
  before(async () => {
    edge = await startEdge({ config: edgeConfig({ http: { keys: { alice: KEY } } }) })
  })

  after(() => edge?.close())

  it('goes from POST to DELETE with curl', async () => {
    const options = await curl('OPTIONS', '/whip')
    assert.deepEqual([options.status, options.headers.get('accept-post')], [204, 'application/sdp'])
    const made = await post(OFFER)
    assert.equal(made.status, 201, made.body)
    assert.match(made.headers.get('etag') ?? '', /^"[\w-]+"$/)
    assert.equal(made.headers.get('content-length'), String(Buffer.byteLength(made.body)))
    assert.ok(Buffer.byteLength(made.body) <= 2048)
    assert.match(made.body, /^a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1 \d+ typ host\r$/m)
    assert.match(made.body, /^a=end-of-candidates\r$/m)
    const session = made.headers.get('location')!
    const match = `If-Match: ${made.headers.get('etag')}`
    const trickled = await curl(
      'PATCH',
      session,
      [FRAGMENT, match],
      'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=candidate:1 1 udp 2130706431 192.0.2.7 5000 typ host\r\n',
    )
    assert.deepEqual([trickled.status, trickled.headers.get('etag'), trickled.body], [204, null, ''])
    assert.equal((await curl('PATCH', session, [FRAGMENT], 'a=end-of-candidates')).status, 428)
    const restarted = await curl(
      'PATCH',
      session,
      [FRAGMENT, 'If-Match: *'],
      `a=ice-ufrag:wxyz\r\na=ice-pwd:${'x'.repeat(24)}\r\n`,
    )
    assert.equal(restarted.status, 200)
    assert.notEqual(restarted.headers.get('etag'), made.headers.get('etag'))
    assert.match(restarted.body, /^a=ice-ufrag:\S+\r$/m)
    assert.equal((await curl('PATCH', session, [FRAGMENT, match], 'a=end-of-candidates')).status, 412)
    assert.equal(await total(), 1)
    assert.equal((await curl('DELETE', session)).status, 200)
    assert.equal((await curl('DELETE', session)).status, 404)
    assert.equal(await total(), 0)
  })

  it('takes what OBS offers: its audio is received, its video refused, by line', async () => {
    const offer = (
      await readFile(new URL('../fixtures/offers/obs-whip.sdp', import.meta.url), 'utf8')
    ).replaceAll(/\r?\n/g, '\r\n')
    assert.match(offer, /^m=video [1-9]/m)
    const { status, body, headers } = await post(offer)
    assert.equal(status, 201, body)
    assert.match(body, /^m=audio [1-9][\s\S]*^a=recvonly\r$/m)
    assert.match(body, /^m=video 0 /m)
    assert.doesNotMatch(body, /sendrecv|a=sendonly/)
    assert.equal((await curl('DELETE', headers.get('location')!)).status, 200)
  })

  it('answers sendrecv with sendrecv, recvonly with sendonly', async () => {
    for (const [offered, answered] of [
      ['sendrecv', 'sendrecv'],
      ['sendonly', 'recvonly'],
      ['recvonly', 'sendonly'],
    ] as const) {
      const { body, headers } = await post(OFFER.replace('a=sendrecv', `a=${offered}`))
      assert.match(body, new RegExp(`^a=${answered}\\r$`, 'm'))
      assert.equal((await curl('DELETE', headers.get('location')!)).status, 200)
    }
  })

  it('signaling 23: ufrags are letters and digits, candidates have none, and every line ends with CRLF', async () => {
    const { body, headers } = await post(OFFER)
    const { body: fragment } = await curl(
      'PATCH',
      headers.get('location')!,
      [FRAGMENT, 'If-Match: *'],
      `a=ice-ufrag:wxyz\r\na=ice-pwd:${'x'.repeat(24)}\r\n`,
    )
    for (const text of [body, fragment]) {
      assert.match(text, /^a=ice-ufrag:[A-Za-z0-9]+\r$/m)
      assert.doesNotMatch(text, /^a=candidate:.* ufrag /m)
      assert.ok(text.endsWith('\r\n'))
      assert.doesNotMatch(text, /[^\r]\n/)
    }
    await curl('DELETE', headers.get('location')!)
  })

  it('goes on through an ICE restart over HTTP', async () => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/sdp' }
    await using client = await TestClient.connect(async (body) => {
      const response = await fetch(`${edge.origin}/whip`, { method: 'POST', body, headers })
      return { sdp: await response.text(), url: response.headers.get('location') ?? '' }
    })
    const remote = randomCredentials()
    const { status, body } = await curl(
      'PATCH',
      client.url!,
      [FRAGMENT, 'If-Match: *'],
      `a=ice-ufrag:${remote.ufrag}\r\na=ice-pwd:${remote.pwd}\r\n`,
    )
    assert.equal(status, 200)
    const ufrag = /^a=ice-ufrag:(\S+)\r$/m.exec(body)![1]!
    const pwd = /^a=ice-pwd:(\S+)\r$/m.exec(body)![1]!
    client.transport.start(remote, { ...client.answer!, ufrag, pwd })
    await eventually('the new credentials are taken', () => client.transport.checks!.counters.answered > 0)
    client.sendEvent({ type: 'still here' })
    assert.deepEqual(await client.events.take(), { type: 'still here' })
    await client.close()
    await edge.untilIdle()
  })
})
