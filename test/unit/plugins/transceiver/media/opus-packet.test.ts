import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { opusSamples } from '../../../../../plugins/transceiver/media/opus-packet.ts'

function ms(...bytes: number[]): number {
  return opusSamples(Uint8Array.from([0, ...bytes, 0]), 1, 1 + bytes.length) / 48
}

describe("an Opus packet's duration", () => {
  test('follows table 2 of RFC 6716', () => {
    const table = [
      ...[10, 20, 40, 60, 10, 20, 40, 60, 10, 20, 40, 60],
      ...[10, 20, 10, 20],
      ...[2.5, 5, 10, 20, 2.5, 5, 10, 20, 2.5, 5, 10, 20, 2.5, 5, 10, 20],
    ]
    for (const [configuration, frame] of table.entries()) {
      const contents = configuration << 3
      assert.equal(ms(contents), frame)
      assert.equal(ms(contents | 4, 1, 2), frame, 'stereo')
      assert.equal(ms(contents | 1, 1, 2), 2 * frame)
      assert.equal(ms(contents | 2, 1, 2), 2 * frame)
      for (const count of [1, 2, 3]) {
        const total = count * frame
        assert.equal(ms(contents | 3, 0xc0 | count), total > 120 ? 0 : total)
      }
    }
  })

  test('is 0 for what is no packet', () => {
    assert.equal(ms(), 0, 'empty')
    assert.equal(ms(0x0b), 0, 'no count')
    assert.equal(ms(0x0b, 0), 0, 'a count of none')
    assert.equal(ms(0x0b, 7), 0, '140 ms')
    assert.equal(ms(0x0b, 6), 120)
    assert.equal(opusSamples(Uint8Array.of(8), 1, 0), 0)
  })
})
