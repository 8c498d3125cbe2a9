import assert from 'node:assert/strict'
import { test } from 'node:test'
import { libc } from '../../../../core/ffi/libc.ts'
import { addressOf } from '../../../../core/ffi/native.ts'
import { sharedMemory } from '../../../../core/ffi/shared-memory.ts'
import { printedWithoutKoffi } from '../without-koffi.ts'

const HUGE_PAGE = 2 ** 21
const skip = libc() ? false : 'no system calls here'

test('memory for tables begins at a cache line, and from a huge page on at one', { skip }, () => {
  for (const [size, boundary] of [
    [1, 64],
    [1000, 64],
    [HUGE_PAGE - 1, 64],
    [HUGE_PAGE, HUGE_PAGE],
    [HUGE_PAGE + 1000, HUGE_PAGE],
  ] as const) {
    // The engine may happen to put one where it should be, but not all of them.
    for (let n = 0; n < 4; n++) {
      const memory = sharedMemory(size)
      assert.equal(addressOf(memory) % boundary, 0, `${size} bytes`)
      assert.equal(memory.length, size)
      assert.ok(memory.every((byte) => byte === 0))
    }
  }
})

test('without koffi it is as large, wherever it begins', () => {
  const script = `
    const { sharedMemory } = await import('./core/ffi/shared-memory.ts')
    const memory = sharedMemory(3_000_000)
    console.log(memory.length, memory.buffer instanceof SharedArrayBuffer)
  `
  assert.equal(printedWithoutKoffi(script), '3000000 true')
})
