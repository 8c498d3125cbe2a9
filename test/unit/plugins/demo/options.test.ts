import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkOptions } from '../../../../plugins/demo/options.ts'

describe('the demo page’s options', () => {
  it('take a folder of the URL as the path', () => {
    for (const path of ['/', '/demo/', '/a/b-c/d.e/']) assert.deepEqual(checkOptions({ path }), [], path)
  })

  it('refuse what is none, and say what would be', () => {
    for (const path of ['', 'demo', '/demo', 'demo/', '/:id/', '/*', '//', '/a b/']) {
      const [problem] = checkOptions({ path })
      assert.equal(problem?.pointer, '/path', path)
      assert.match(problem?.hint ?? '', /"\/demo\/"/)
    }
  })
})
