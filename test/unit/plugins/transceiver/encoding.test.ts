import assert from 'node:assert/strict'
import { it } from 'node:test'
import { eventually } from '../../../../core/testing/check.ts'
import { Rig } from './rig.ts'

it('what the operator says of encoding reaches the encoder', async () => {
  const sent: number[] = []
  for (const bitrate of [6000, 64_000]) {
    await using rig = await Rig.open({
      opus: { bitrate, complexity: 0, dtx: true, fec: false },
      bridge: {
        audio: { pcm16: 8000 },
        async open(call) {
          const noise = new Uint8Array(1600).map((_, i) => Math.imul(i, 2654435761) >>> 26)
          await call.play({ data: noise, durationMs: 100 })
          for await (const _frame of call.audio);
        },
      },
    })
    await using client = await rig.connect()
    await eventually('100 ms have come', () => client.audio.total >= 5)
    sent.push(client.audio.drain().reduce((sum, { payload }) => sum + payload.length, 0))
  }
  assert.ok(sent[1]! > 3 * sent[0]!, `${sent[0]} and ${sent[1]} bytes`)
})
