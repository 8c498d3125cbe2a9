import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EdgeError } from '../../../../core/index.ts'
import {
  ACKNOWLEDGED_WITHIN_MS,
  FAREWELL_MS,
  Farewell,
  type FarewellChannel,
} from '../../../../plugins/transceiver/farewell.ts'

class Channel implements FarewellChannel {
  readonly said: unknown[] = []
  room = Number.POSITIVE_INFINITY
  queued = false
  waiting = false

  send(text: string): boolean {
    if (this.room-- <= 0) return false
    this.said.push(JSON.parse(text))
    return true
  }
}

const FAULT = new EdgeError('bridge_failed', 'no')
const error = { type: 'server_error', code: 'bridge_failed', param: null }
const ended = { type: 'session.ended', reason: 'why' }

describe('a farewell', () => {
  it('says what was unsent, then the fault, then the reason', () => {
    const channel = new Channel()
    const farewell = new Farewell('why', FAULT, ['{"n":1}', '{"n":2}'])
    assert.equal(farewell.isOver(0, channel), false)
    assert.equal(farewell.say(channel), true)
    assert.equal(farewell.isOver(0, channel), true)
    assert.partialDeepStrictEqual(channel.said, [{ n: 1 }, { n: 2 }, { type: 'error', error }, ended])
    assert.equal(farewell.say(channel), false)
    assert.equal(channel.said.length, 4)
  })

  it('goes on where a full channel stopped it, and waits until all has left', () => {
    const channel = new Channel()
    const farewell = new Farewell('why', FAULT, ['{"n":1}'])
    channel.room = 2
    assert.equal(farewell.say(channel), true)
    assert.equal(farewell.isOver(0, channel), false)
    channel.room = 9
    channel.waiting = true
    assert.equal(farewell.say(channel), true)
    assert.equal(channel.said.length, 3)
    assert.equal(farewell.isOver(0, channel), false)
    channel.waiting = false
    assert.equal(farewell.isOver(0, channel), true)
  })

  it('takes its time only once the client is there', () => {
    const farewell = new Farewell('why', undefined, [])
    assert.equal(farewell.isOver(1e9, undefined), false)
    farewell.begin(1e9)
    assert.equal(farewell.isOver(1e9 + FAREWELL_MS - 1, undefined), false)
    assert.equal(farewell.isOver(1e9 + FAREWELL_MS, undefined), true)
  })

  it('waits for the acknowledgement from when all has left, and not long: who is gone sends none', () => {
    const channel = new Channel()
    channel.queued = channel.waiting = true
    const farewell = new Farewell('why', undefined, []).begin(0)
    farewell.say(channel)
    assert.equal(farewell.isOver(1000, channel), false)
    channel.queued = false
    assert.equal(farewell.isOver(1500, channel), false)
    assert.equal(farewell.isOver(1500 + ACKNOWLEDGED_WITHIN_MS - 1, channel), false)
    assert.equal(farewell.isOver(1500 + ACKNOWLEDGED_WITHIN_MS, channel), true)
  })

  it('has nothing to say where there is no channel', () => {
    const farewell = new Farewell('why', FAULT, undefined)
    assert.equal(farewell.say(undefined), false)
    assert.equal(farewell.isOver(0, undefined), true)
  })
})
