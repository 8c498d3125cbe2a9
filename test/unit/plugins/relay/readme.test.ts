/** The README says what each reason to drop tells an operator. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { DROP_REASONS } from '../../../../plugins/relay/pure/drop-reasons.ts'

test('every reason to drop has its row, and there is none besides', async () => {
  const readme = await readFile('plugins/relay/README.md', 'utf8')
  const table = readme.slice(readme.indexOf('| Reason'), readme.indexOf('Spans, in the call'))
  const rows = [...table.matchAll(/^\| `(\w+)` +\| (.*\w.*) \|$/gm)].map(([, reason]) => reason)
  assert.deepEqual(rows, [...DROP_REASONS])
})
