/** The code that README.md gives for a page of one's own, run as it stands in a page from another origin. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { it } from 'node:test'
import { startChromium, withoutChromium } from './chromium.ts'
import { LOOPBACK_CONFIG } from './edge-config.ts'
import { startEdge } from './edge-process.ts'

const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
const CODE = /```js\n([\s\S]*?)```/.exec(README)?.[1] ?? ''
const EDGE = 'http://localhost:8080/'

/** What a page's author would look at next. */
const OUTCOME = `
await new Promise((done) => { events.onopen = done })
const echo = new Promise((done) => { events.onmessage = ({ data }) => done(data) })
events.send('{"type":"hello"}')
await echo
await new Promise((done) => { audio.readyState >= 2 ? done() : (audio.oncanplay = done) })
const location = new URL(response.headers.get('location'), '${EDGE}')
const ended = new Promise((done) => { events.onclose = done })
const hangup = await fetch(location + '/hangup', { method: 'POST' })
await ended
return { event: await echo, hangup: hangup.status }
`

it('makes a call from a page of another origin, and ends it', { skip: withoutChromium() }, async () => {
  assert.ok(CODE.includes(EDGE))
  await using edge = await startEdge(LOOPBACK_CONFIG)
  await using chromium = await startChromium()
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><audio autoplay></audio>')
  }).listen(0, '127.0.0.1')
  await once(site, 'listening')
  try {
    const address = site.address()
    assert.ok(address !== null && typeof address === 'object')
    const page = await chromium.browser.newPage()
    await page.goto(`http://localhost:${address.port}/`)
    const script = `(async () => {${CODE}${OUTCOME}})()`.replaceAll(EDGE, edge.url)
    assert.deepEqual(await page.evaluate(script), { event: '{"type":"hello"}', hangup: 200 })
  } finally {
    site.closeAllConnections()
    site.close()
  }
})
