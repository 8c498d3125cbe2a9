import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Credentials } from '../../../../../plugins/transceiver/ice/generation.ts'
import { IceRestarts } from '../../../../../plugins/transceiver/ice/restarts.ts'

const OURS = { ufrag: 'ours0', pwd: 'p'.repeat(32) }
const THEIRS = { ufrag: 'theirs', pwd: 'q'.repeat(24) }

/** Restarts whose codec gives these ufrags. */
function bench(...ufrags: string[]) {
  const dropped: string[] = []
  const told: [Credentials, Credentials][] = []
  let random = 0
  const restarts = new IceRestarts({
    local: OURS,
    remote: THEIRS,
    random: (length) => new Uint8Array(length).fill(++random),
    newUfrag: () => ufrags.shift()!,
    dropUfrag: (ufrag) => void dropped.push(ufrag),
    onRestart: (local, remote) => void told.push([local, remote]),
  })
  return { restarts, dropped, told }
}

test('each restart has credentials and a tag of its own; the agent is told', () => {
  const { restarts, told } = bench('ours1', 'ours2')
  const tags = [restarts.tag]
  assert.ok(restarts.isCurrent(THEIRS))
  assert.equal(restarts.local, OURS)
  for (const ufrag of ['new1', 'new2']) {
    const remote = { ...THEIRS, ufrag }
    const local = restarts.restart(remote)
    assert.deepEqual(told.at(-1), [local, remote])
    assert.equal(restarts.local, local)
    assert.match(local.pwd, /^[0-9a-f]{32}$/)
    assert.ok(restarts.isCurrent(remote))
    tags.push(restarts.tag)
  }
  const { local } = restarts
  restarts.completed()
  assert.equal(restarts.local, local)
  assert.equal(restarts.tag, tags[2])
  assert.equal(new Set(tags).size, 3)
  assert.match(tags[0]!, /^[\w-]{22}$/)
  assert.ok(!restarts.isCurrent(THEIRS) && !restarts.isCurrent({ ufrag: 'new2', pwd: 'r'.repeat(24) }))
})

test('a ufrag is dropped when it is void: the live one once the next was used, the next once there is another', () => {
  const { restarts, dropped } = bench('ours1', 'ours2')
  restarts.completed()
  restarts.restart({ ...THEIRS, ufrag: 'new1' })
  assert.deepEqual(dropped, [])
  restarts.restart({ ...THEIRS, ufrag: 'new2' })
  assert.deepEqual(dropped, ['ours1'])
  restarts.completed()
  restarts.completed()
  assert.deepEqual(dropped, ['ours1', 'ours0'])
})

test('a codec that gives one ufrag for ever loses none', () => {
  const { restarts, dropped } = bench('ours0', 'ours0')
  const tags = new Set([restarts.tag])
  for (const pwd of ['a'.repeat(24), 'b'.repeat(24)]) {
    restarts.restart({ ...THEIRS, pwd })
    tags.add(restarts.tag)
  }
  restarts.completed()
  assert.deepEqual(dropped, [])
  assert.equal(tags.size, 3)
})
