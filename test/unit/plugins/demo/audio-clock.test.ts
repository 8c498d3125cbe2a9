/** The audio clock's time on the page's: what the page hears late is dated as early as it was. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AudioClock } from '../../../../plugins/demo/public/audio-clock.js'

describe('the audio clock', () => {
  it('dates what comes late by what came in time', () => {
    const clock = new AudioClock()
    assert.equal(clock.toPage(100, 1105), 1105)
    assert.equal(clock.toPage(110, 1111), 1111)
    const late = clock.toPage(120, 1300)
    assert.ok(Math.abs(late - 1121) < 3, `${late}`)
    const next = clock.toPage(130, 1300)
    assert.equal(Math.round(next - late), 10)
  })

  it('follows when audio stood still', () => {
    const clock = new AudioClock()
    for (let ms = 0; ms < 1000; ms += 10) clock.toPage(ms, 5000 + ms)
    let dated = 0
    for (let ms = 1000; ms < 30_000; ms += 10) dated = clock.toPage(ms - 100, 5000 + ms)
    assert.ok(Math.abs(dated - 34_990) < 1, `${dated}`)
  })
})
