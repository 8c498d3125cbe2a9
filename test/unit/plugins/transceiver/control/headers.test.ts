import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  ANSWER_HEADERS,
  headersToPass,
  pickHeaders,
} from '../../../../../plugins/transceiver/control/headers.ts'

it('what a caller is known by does not travel, nor what no route needs', () => {
  const passed = headersToPass({
    authorization: 'Bearer secret',
    'api-key': 'secret',
    cookie: 'secret',
    host: 'edge.example',
    origin: 'https://app.example',
    'x-forwarded-for': '203.0.113.9',
    'content-type': 'application/json',
    'sec-websocket-protocol': 'realtime, openai-insecure-api-key.secret,openai-beta.realtime-v1',
  })
  assert.deepEqual(passed, {
    'content-type': 'application/json',
    'sec-websocket-protocol': 'realtime, openai-beta.realtime-v1',
  })
})

it('a subprotocol that is nothing but a key leaves no header behind', () => {
  assert.deepEqual(headersToPass({ 'sec-websocket-protocol': 'openai-insecure-api-key.secret' }), {})
})

it('of an answer travel what routes set, in one order, and numbers and lists as text', () => {
  const picked = pickHeaders(
    {
      'retry-after': 5,
      link: ['<a>', '<b>'],
      etag: '"x"',
      'set-cookie': 'a=b',
      server: 'x',
      allow: undefined,
    },
    ANSWER_HEADERS,
  )
  assert.deepEqual(Object.entries(picked), [
    ['etag', '"x"'],
    ['link', '<a>, <b>'],
    ['retry-after', '5'],
  ])
})
