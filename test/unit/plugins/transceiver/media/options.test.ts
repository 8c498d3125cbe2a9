import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { OpusOption } from '../../../../../plugins/transceiver/media/options.ts'
import { VOICE } from '../../../../../plugins/transceiver/media/opus-encoder.ts'

test('an operator who says nothing gets what is good for voice', () => {
  assert.deepEqual(Value.Default(OpusOption, {}), VOICE)
})
