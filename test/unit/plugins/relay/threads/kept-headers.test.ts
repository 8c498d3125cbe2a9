/** A header that was written anew is found as it came by whoever finishes its batch, and by nobody else. */

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { HEAD_ROOM, SPP_MAC_LENGTH } from '../../../../../core/index.ts'
import { KeptHeaders } from '../../../../../plugins/relay/threads/kept-headers.ts'

const SLOT = 256
const BATCH = 41

let memories: SharedArrayBuffer[]
let kept: KeptHeaders
beforeEach(() => {
  memories = [0, 1].map(() => new SharedArrayBuffer(4 * SLOT))
  kept = new KeptHeaders(memories)
})

/** A slot with a datagram in it that just came. */
function slotOf(socket: number, slot: number): Buffer {
  const bytes = Buffer.from(memories[socket]!, slot * SLOT, SLOT)
  for (let i = HEAD_ROOM; i < SLOT; i++) bytes[i] = i
  return bytes
}

function rewrite(bytes: Buffer, batch: number): void {
  kept.keep(batch, bytes, HEAD_ROOM)
  bytes.fill(0xee, HEAD_ROOM, HEAD_ROOM + SPP_MAC_LENGTH)
}

const isAsItCame = (bytes: Buffer): boolean => bytes.subarray(HEAD_ROOM).every((b, i) => b === HEAD_ROOM + i)

test('a successor puts back every header of its batch, whatever has been written since', () => {
  for (const [socket, slot] of [
    [0, 0],
    [0, 3],
    [1, 2],
  ] as const) {
    const bytes = slotOf(socket, slot)
    kept.at(socket)
    rewrite(bytes, BATCH)
    const successor = new KeptHeaders(memories)
    successor.at(socket)
    successor.restore(BATCH, bytes, HEAD_ROOM)
    assert.ok(isAsItCame(bytes))
    // And once more, when that one dies too.
    rewrite(bytes, BATCH)
    kept.restore(BATCH, bytes, HEAD_ROOM)
    assert.ok(isAsItCame(bytes))
  }
})

test('a datagram that none has begun with stays as it came, whatever was in its slot before', () => {
  const before = slotOf(0, 1)
  kept.at(0)
  rewrite(before, BATCH - 1)
  const bytes = slotOf(0, 1)
  const other = slotOf(0, 2)
  for (const untouched of [bytes, other]) {
    kept.restore(BATCH, untouched, HEAD_ROOM)
    assert.ok(isAsItCame(untouched))
  }
})
