import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { ASSETS, isCurrent, PAGE, readPage } from '../../../../plugins/demo/files.ts'

const folder = new URL('../../../../plugins/demo/public/', import.meta.url)

describe('the demo page’s files', () => {
  it('are all that is in the folder, and no others', async () => {
    assert.deepEqual([PAGE, ...ASSETS].toSorted(), (await readdir(folder)).toSorted())
  })

  it('are read with a type and an ETag each', async () => {
    const files = await readPage()
    assert.equal(files.length, ASSETS.length + 1)
    assert.ok(files.every(({ type }) => type !== 'application/octet-stream'))
    assert.equal(new Set(files.map(({ etag }) => etag)).size, files.length)
    for (const { etag } of files) assert.match(etag, /^"[\w-]{22}"$/)
  })

  it('must all be there', async () => {
    await assert.rejects(readPage(new URL('./', import.meta.url)), /ENOENT/)
  })

  it('link only to each other', async () => {
    const files = await readPage()
    const names = new Set<string>([...ASSETS, './'])
    for (const { name, body } of files) {
      const text = body.toString()
      const links = [...text.matchAll(/(?:href|src)="([^"]+)"|from '\.\/([^']+)'/g)].map(
        (match) => match[1] ?? match[2]!,
      )
      for (const link of links) assert.ok(names.has(link.replace('demo-assets/', '')), `${name}: ${link}`)
      assert.doesNotMatch(text.replaceAll('http://www.w3.org/2000/svg', ''), /https?:\/\//, name)
    }
  })
})

describe('If-None-Match', () => {
  it('names a file in each of the ways there are', () => {
    for (const header of ['"a"', 'W/"a"', '"b", "a"', '*', ' * '])
      assert.equal(isCurrent(header, '"a"'), true, header)
    for (const header of [undefined, '', '"b"', 'a', '"a"b'])
      assert.equal(isCurrent(header, '"a"'), false, header)
  })
})
