import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { load } from '../../../../core/config/load.ts'
import { type Edge, start } from '../../../../core/host.ts'
import { ASSETS } from '../../../../plugins/demo/files.ts'
import { recordedLog } from '../../core/host-fixture.ts'

const use = join(import.meta.dirname, '../../../../plugins/demo/index.ts')
let folder: string

async function edgeWith(options: object): Promise<Edge> {
  const file = join(folder, 'edge.config.json')
  const listen = { listen: '127.0.0.1:0' }
  await writeFile(file, JSON.stringify({ http: listen, admin: listen, plugins: { demo: { use, options } } }))
  return start(await load(file, {}), { log: recordedLog().log, env: {} })
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-demo-'))
})

after(() => rm(folder, { recursive: true }))

const get = (edge: Edge, url: string, headers: Record<string, string> = {}) =>
  edge.http.inject({ url, headers: { host: 'localhost', ...headers } })

describe('the demo page', () => {
  it('is at the root of the public listener, under a strict policy', async () => {
    await using edge = await edgeWith({})
    const page = await get(edge, '/')
    assert.equal(page.statusCode, 200)
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(page.headers['cache-control'], 'no-cache')
    assert.equal(page.headers['x-content-type-options'], 'nosniff')
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, /default-src 'none'; script-src 'self';/)
    assert.doesNotMatch(policy, /unsafe/)
    assert.doesNotMatch(page.body, /<script(?![^>]* src=)|<style| style=| on\w+=/)
    assert.equal((await edge.admin.inject({ url: '/', headers: { host: 'localhost' } })).statusCode, 404)
  })

  it('has its assets beside it, and nothing else of the folder', async () => {
    await using edge = await edgeWith({})
    for (const name of ASSETS) assert.equal((await get(edge, `/demo-assets/${name}`)).statusCode, 200, name)
    for (const name of ['index.html', '../index.ts', '..%2findex.ts', 'README.md', '']) {
      assert.equal((await get(edge, `/demo-assets/${name}`)).statusCode, 404, name)
    }
  })

  it('is sent once, and then only when it has changed', async () => {
    await using edge = await edgeWith({})
    const first = await get(edge, '/demo-assets/page.js')
    const etag = String(first.headers.etag)
    const again = await get(edge, '/demo-assets/page.js', { 'if-none-match': etag })
    assert.equal(again.statusCode, 304)
    assert.equal(again.body, '')
    assert.equal(again.headers.etag, etag)
    assert.equal((await get(edge, '/demo-assets/page.js', { 'if-none-match': '"other"' })).statusCode, 200)
    const head = await edge.http.inject({ method: 'HEAD', url: '/', headers: { host: 'localhost' } })
    assert.equal(head.statusCode, 200)
    assert.equal(head.body, '')
  })

  it('goes where its path says', async () => {
    await using edge = await edgeWith({ path: '/try/' })
    assert.equal((await get(edge, '/')).statusCode, 404)
    assert.equal((await get(edge, '/try/')).statusCode, 200)
    assert.equal((await get(edge, '/try/demo-assets/page.js')).statusCode, 200)
  })
})
