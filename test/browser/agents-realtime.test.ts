/**
 * OpenAI's Agents SDK, unmodified, in Chromium: only its base URL is another. It calls through a whole edge, by the
 * openai-realtime bridge, to a scripted Realtime backend.
 */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../../core/testing/check.ts'
import { RealtimeBackend } from '../peers/realtime-backend.ts'
import type { BackendConversation } from '../peers/realtime-backend-conversation.ts'
import { withoutChromium } from './chromium.ts'
import { type ClientApp, KEY, startClientApp } from './client-app.ts'
import { play, RATE, TUNE, toWav } from './tune.ts'
import { until } from './until.ts'

const WORD_MS = 200
const WORDS = Array.from({ length: 100 }, (_, n) => `word${n}`)

/** An app as the SDK's documentation has it, with a tool. */
const SCRIPT = `
  import { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime'
  window.asked = []
  window.errors = []
  window.events = []
  const weather = tool({
    name: 'get_weather',
    description: 'The weather somewhere.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
    execute: async ({ city }) => {
      asked.push(city)
      return 'Sunny in ' + city
    },
  })
  window.connect = async (baseUrl, apiKey) => {
    const agent = new RealtimeAgent({ name: 'Assistant', instructions: 'Be kind.', tools: [weather] })
    const transport = new OpenAIRealtimeWebRTC({ baseUrl })
    window.session = new RealtimeSession(agent, { transport })
    session.on('error', (error) => errors.push(JSON.stringify(error)))
    session.on('transport_event', ({ type }) => events.push(type))
    const before = performance.now()
    await session.connect({ apiKey })
    return performance.now() - before
  }
`

let backend: RealtimeBackend
let app: ClientApp

/** A second of notes, then three of silence: the SDK's own microphone hears that again and again. */
function microphone(): Buffer {
  const notes = play(TUNE.slice(1, 5))
  const samples = new Float32Array(RATE * 4)
  samples.set(notes, RATE)
  return toWav(samples)
}

/** What a page's server asks an edge for: a key that a page may have. */
async function clientSecret(): Promise<string> {
  const response = await fetch(`${app.edge.origin}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: '{}',
  })
  assert.equal(response.status, 200)
  const { value } = JSON.parse(await response.text())
  return value
}

async function connect(): Promise<{ tab: Page; peer: BackendConversation; tookMs: number }> {
  const { tab } = await app.open()
  const url = `${app.edge.origin}/v1/realtime/calls`
  const tookMs: number = await tab.evaluate(`connect('${url}', '${await clientSecret()}')`)
  return { tab, peer: await backend.conversations.take(), tookMs }
}

describe('the Agents SDK in a browser', { skip: withoutChromium() }, () => {
  before(async () => {
    const answers = [
      { call: 'get_weather', arguments: { city: 'Rome' } },
      { say: WORDS.join(' '), ms: WORDS.length * WORD_MS },
    ]
    backend = await RealtimeBackend.start({
      heard: 'How is the weather?',
      answer: (n) => answers[n] ?? { say: 'All right.', ms: 300 },
    })
    const use = './plugins/inference-bridge/openai-realtime/index.ts'
    const bridge = { use, options: { url: backend.url, model: 'scripted' } }
    app = await startClientApp(SCRIPT, { bridge, microphone: microphone() })
  })

  after(async () => {
    await app?.[Symbol.asyncDispose]()
    await backend?.[Symbol.asyncDispose]()
  })

  it('connects, talks, calls a tool, is interrupted, and its history shows where', async (t) => {
    const { tab, peer, tookMs } = await connect()
    t.diagnostic(`connected in ${Math.round(tookMs)} ms`)
    assert.equal(await tab.evaluate('session.transport.status'), 'connected')
    assert.match(await tab.evaluate('session.transport.callId'), /^rtc_/)
    assert.partialDeepStrictEqual(peer.session, {
      instructions: 'Be kind.',
      tools: [{ name: 'get_weather' }],
    })

    // Its microphone speaks: the tool is called, and its result answered at length. Then it speaks again.
    await until(tab, 'asked.length', 20_000)
    assert.deepEqual(await tab.evaluate('asked'), ['Rome'])
    await until(tab, `events.includes('output_audio_buffer.started')`)
    await until(tab, `events.includes('conversation.item.truncated')`, 20_000)
    await until(tab, `events.includes('conversation.item.retrieved')`)
    assert.ok(await tab.evaluate(`events.includes('output_audio_buffer.cleared')`))

    const said = peer.items.all.find(({ wholeMs }) => wholeMs === WORDS.length * WORD_MS)
    assert.ok(said && said.audioMs > 0 && said.audioMs < said.wholeMs, `cut at ${said?.audioMs} ms`)
    t.diagnostic(`interrupted after ${said.audioMs} ms`)
    const heard = WORDS.slice(0, Math.floor(said.audioMs / WORD_MS)).join(' ')
    await until(tab, `session.history.some((item) => item.content?.[0]?.transcript === '${heard}')`)
    const history: unknown[] = await tab.evaluate('session.history')
    assert.partialDeepStrictEqual(history.slice(0, 3), [
      { role: 'user', content: [{ type: 'input_audio', transcript: 'How is the weather?' }] },
      { type: 'function_call', name: 'get_weather', status: 'completed', output: 'Sunny in Rome' },
      { role: 'assistant', itemId: said.id, content: [{ type: 'output_audio', transcript: heard }] },
    ])
    assert.deepEqual(await tab.evaluate('errors'), [])
    assert.deepEqual(peer.refused, [])

    const closed = peer.closed()
    await tab.evaluate('session.close()')
    assert.equal(await closed, 1000)
    await app.edge.untilIdle()
    await eventually('no connection is left', () => backend.open === 0)
    await tab.close()
  })
})
