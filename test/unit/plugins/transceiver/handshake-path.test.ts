import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HandshakePath } from '../../../../plugins/transceiver/handshake-path.ts'
import { path } from './ice/support.ts'

const HERE = path('203.0.113.5:40000')
const THERE = path('203.0.113.66:666')

/** `h`: heard from HERE, `H`: from THERE; `s` and `S`: sent likewise. */
function proven(story: string): boolean {
  const handshake = new HandshakePath()
  for (const step of story) {
    const at = step === step.toLowerCase() ? HERE : THERE
    if (step.toLowerCase() === 'h') handshake.hear(at)
    else handshake.send(at)
  }
  const { proven: found } = handshake
  if (found) assert.ok(found.client.equals(story.includes('s') ? HERE.client : THERE.client))
  return found !== undefined
}

test('a handshake proves the address that alone got our flights and sent the last', () => {
  for (const story of ['hsh', 'hshsh', 'HSH', 'Hsh', 'hhsh']) assert.ok(proven(story), story)
})

test('it proves nothing when a flight went elsewhere, before or after, or the end came from elsewhere', () => {
  for (const story of ['', 'h', 's', 'hsH', 'HSh', 'hsHSH', 'HShsh', 'hshSh', 'hsHSh', 'HshS']) {
    assert.equal(proven(story), false, story)
  }
})

test('what was heard is kept as a copy', () => {
  const handshake = new HandshakePath()
  const reused = { ...HERE, client: HERE.client.clone() }
  handshake.hear(reused)
  reused.client.copy(THERE.client)
  assert.ok(handshake.heard?.client.equals(HERE.client))
})
