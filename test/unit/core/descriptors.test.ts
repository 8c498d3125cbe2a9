/** A flood of connections takes no descriptors that probes need. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connectionsWithin, descriptorLimit } from '../../../core/descriptors.ts'

describe('the connections of a public listener', () => {
  it('are as many as the operator says, within half of the descriptors', () => {
    assert.equal(connectionsWithin(10_000, 1_048_576), 10_000)
    assert.equal(connectionsWithin(10_000, 20_001), 10_000)
    assert.equal(connectionsWithin(10_000, 1024), 512)
    assert.equal(connectionsWithin(10_000, Number.POSITIVE_INFINITY), 10_000)
    assert.equal(connectionsWithin(10_000, 1), 1)
  })

  it('are measured by what this process may have', () => {
    assert.ok(descriptorLimit() >= 64)
    assert.equal(descriptorLimit(), descriptorLimit())
  })
})
