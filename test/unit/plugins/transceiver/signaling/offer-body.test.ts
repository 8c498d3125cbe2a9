/** Offers in forms, in an older shape, and with what their query says. */

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { allRoutes } from './all-routes.ts'
import { ANSWER, BODY_LIMIT, ID, OneCall } from './support.ts'

const OFFER = 'v=0\r\ns=größe\r\n'
const SESSION = { type: 'realtime', instructions: 'Größe, 声', audio: { output: { voice: 'x' } } }
const alice = { authorization: 'Bearer alice' }
const caller = { name: 'alice' }

let http: FastifyInstance
let origin: string
let calls = new OneCall()

before(async () => {
  const service = new OneCall()
  service.create = (request) => calls.create(request)
  http = await allRoutes(service)
  origin = await http.listen({ host: '127.0.0.1', port: 0 })
})

after(() => http.close())

beforeEach(() => {
  calls = new OneCall()
})

const post = (body: NonNullable<RequestInit['body']>, query = '', headers: Record<string, string> = alice) =>
  fetch(`${origin}/v1/realtime/calls${query}`, { method: 'POST', body, headers, duplex: 'half' })

function form(parts: Readonly<Record<string, string | Blob | undefined>>): FormData {
  const made = new FormData()
  for (const [name, part] of Object.entries(parts)) if (part !== undefined) made.append(name, part)
  return made
}

/** A part with a content type and no file name, which FormData cannot make. */
function raw(...parts: readonly (readonly [head: string, body: string])[]): [Buffer, Record<string, string>] {
  const text = parts.map(
    ([head, body]) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`,
  )
  return [
    Buffer.from(`${text.join('')}--b--\r\n`),
    { ...alice, 'content-type': 'multipart/form-data; boundary=b' },
  ]
}

const JSON_TEXT = JSON.stringify(SESSION)

describe('an offer in a form', () => {
  const forms: Record<string, () => Promise<Response>> = {
    'plain fields': () => post(form({ sdp: OFFER, session: JSON_TEXT })),
    'the session first': () => post(form({ session: JSON_TEXT, sdp: OFFER })),
    files: () =>
      post(
        form({
          sdp: new Blob([OFFER], { type: 'application/sdp' }),
          session: new Blob([JSON_TEXT], { type: 'application/json' }),
        }),
      ),
    'Blobs without file names': () =>
      post(
        ...withHeaders(
          raw(
            ['name="sdp"\r\nContent-Type: application/sdp', OFFER],
            ['name="session"\r\nContent-Type: application/json', JSON_TEXT],
          ),
        ),
      ),
    'with a part that nobody asked for': () =>
      post(form({ sdp: OFFER, session: JSON_TEXT, more: new Blob([Uint8Array.of(0xff)]) })),
  }
  for (const [what, send] of Object.entries(forms)) {
    it(`is taken: ${what}`, async () => {
      const response = await send()
      assert.equal(response.status, 201, await response.clone().text())
      assert.equal(response.headers.get('location'), `/v1/realtime/calls/${ID}`)
      assert.equal(response.headers.get('content-length'), String(ANSWER.length))
      assert.equal(response.headers.get('transfer-encoding'), null)
      assert.equal(await response.text(), ANSWER)
      assert.deepEqual(calls.created, [{ sdp: OFFER, caller, session: SESSION }])
    })
  }

  it('may have no session', async () => {
    assert.equal((await post(form({ sdp: OFFER }))).status, 201)
    assert.deepEqual(calls.created, [{ sdp: OFFER, caller }])
  })

  it('names its model in the session, or in the query, which counts', async () => {
    const session = JSON.stringify({ model: 'a' })
    await post(form({ sdp: OFFER, session }))
    await post(form({ sdp: OFFER, session }), '?model=b')
    assert.deepEqual(
      calls.created.map(({ model }) => model),
      ['a', 'b'],
    )
  })

  const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`
  const bad: [
    what: string,
    send: () => Promise<Response>,
    status: number,
    code: string,
    param: string | null,
  ][] = [
    ['no sdp', () => post(form({ session: '{}' })), 400, 'invalid_sdp', 'sdp'],
    ['nothing in it', () => post(...withHeaders(raw())), 400, 'invalid_sdp', 'sdp'],
    ['an empty sdp', () => post(form({ sdp: '' })), 400, 'invalid_sdp', 'sdp'],
    ['two offers', () => post(twice('sdp', OFFER)), 400, 'bad_request', 'sdp'],
    [
      'a session that is no JSON',
      () => post(form({ sdp: OFFER, session: '{' })),
      400,
      'bad_request',
      'session',
    ],
    [
      'a session that is no object',
      () => post(form({ sdp: OFFER, session: '[]' })),
      400,
      'bad_request',
      'session',
    ],
    [
      'a session that nests deep',
      () => post(form({ sdp: OFFER, session: deep })),
      400,
      'bad_request',
      'session',
    ],
    [
      'JSON that is none, under its own type',
      () => post(...withHeaders(raw(['name="session"\r\nContent-Type: application/json', '{']))),
      400,
      'bad_request',
      null,
    ],
    [
      'many parts',
      () =>
        post(
          form(
            Object.fromEntries(
              Array(20)
                .entries()
                .map(([i]) => [`x${i}`, 'x']),
            ),
          ),
        ),
      413,
      'payload_too_large',
      null,
    ],
    ['too much', () => post(form({ sdp: 'x'.repeat(BODY_LIMIT + 1) })), 413, 'payload_too_large', null],
    [
      'too much, of unsaid length',
      () => post(streamed('x'.repeat(BODY_LIMIT * 2)), '', CHUNKED),
      413,
      'payload_too_large',
      null,
    ],
    [
      'parts that are too much together',
      () => post(streamed(...Array(5).fill('x'.repeat(BODY_LIMIT / 4))), '', CHUNKED),
      413,
      'payload_too_large',
      null,
    ],
    [
      'no boundary',
      () => post('x', '', { ...alice, 'content-type': 'multipart/form-data' }),
      400,
      'bad_request',
      null,
    ],
    [
      'an end that does not come',
      () => post('--b\r\nContent-Disposition: form-data; name="sdp"\r\n\r\nv=0', '', CHUNKED),
      400,
      'bad_request',
      null,
    ],
  ]
  for (const [what, send, status, code, param] of bad) {
    it(`is refused: ${what} → ${status}`, async () => {
      const response = await send()
      const error = await errorOf(response)
      assert.deepEqual([response.status, error.code, error.param], [status, code, param], error.message)
      assert.match(error.message, /\S+ \S+/)
      assert.equal(calls.created.length, 0)
    })
  }
})

async function errorOf(response: Response): Promise<{ code: string; param: string | null; message: string }> {
  return JSON.parse(await response.text()).error
}

const CHUNKED = { ...alice, 'content-type': 'multipart/form-data; boundary=b' }

/** The offer first, then what nobody asked for. */
function streamed(...contents: readonly string[]): ReadableStream {
  const parts = contents.map(
    (content, i) =>
      `--b\r\nContent-Disposition: form-data; name="${i === 0 ? 'sdp' : `x${i}`}"\r\n\r\n${content}\r\n`,
  )
  return ReadableStream.from([...parts, '--b--\r\n'].map((part) => Buffer.from(part)))
}

function twice(name: string, part: string): FormData {
  const made = form({ [name]: part })
  made.append(name, part)
  return made
}

function withHeaders([body, headers]: [Buffer, Record<string, string>]): [
  NonNullable<RequestInit['body']>,
  string,
  Record<string, string>,
] {
  return [new Uint8Array(body), '', headers]
}

describe('an offer’s query', () => {
  const sdp = { ...alice, 'content-type': 'application/sdp' }

  it('names a data channel that needs no opening', async () => {
    for (const [query, channelId] of [
      ['?dcid=0', 0],
      ['?model=m&dcid=65534', 65_534],
      ['?dcid=', undefined],
    ] as const) {
      assert.equal((await post('v=0', query, sdp)).status, 201)
      assert.equal(calls.created.at(-1)?.channelId, channelId)
    }
  })

  it('is refused with a bad data channel or model', async () => {
    for (const [query, param] of [
      ['?dcid=65535', 'dcid'],
      ['?dcid=-1', 'dcid'],
      ['?dcid=1e3', 'dcid'],
      ['?dcid=1&dcid=2', 'dcid'],
      ['?model=a&model=b', 'model'],
    ] as const) {
      const response = await post('v=0', query, sdp)
      assert.equal(response.status, 400)
      assert.equal((await errorOf(response)).param, param)
    }
    assert.equal(calls.created.length, 0)
  })

  it('is read in the older shape too: POST /v1/realtime?model=', async () => {
    const response = await fetch(`${origin}/v1/realtime?model=old`, {
      method: 'POST',
      body: 'v=0',
      headers: sdp,
    })
    assert.equal(response.status, 201)
    assert.equal(response.headers.get('location'), `/v1/realtime/calls/${ID}`)
    assert.deepEqual(calls.created, [{ sdp: 'v=0', caller, model: 'old' }])
  })
})
