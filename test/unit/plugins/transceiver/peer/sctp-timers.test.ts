import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { replaceTimers } from '../../../../../plugins/transceiver/peer/sctp-timers.ts'
import {
  loadWeriftSctp,
  STATE,
  type WeriftSctp,
} from '../../../../../plugins/transceiver/peer/werift-private.ts'

/** A timer that runs when told, and what it was set to. */
class ManualTimer {
  readonly delays: number[] = []
  readonly pending = new Map<string, () => void>()
  set(name: string, delayMs: number, run: () => void): void {
    this.delays.push(delayMs)
    this.pending.set(name, run)
  }
  clear(name: string): void {
    this.pending.delete(name)
  }
  fire(name: string): void {
    const run = this.pending.get(name)
    this.pending.delete(name)
    run?.()
  }
}

let timer: ManualTimer
let sctp: WeriftSctp
let failures: string[]
let sent: number

beforeEach(() => {
  timer = new ManualTimer()
  failures = []
  sent = 0
  const { SCTP } = loadWeriftSctp()
  const transport = {
    send: async () => {
      sent++
    },
    close() {},
  }
  sctp = new SCTP(transport, 5000, { mtu: 1160 })
  replaceTimers(sctp, timer, (reason) => failures.push(reason))
})

test('werift fault 18: retransmission backs off, and ends', async () => {
  await sctp.start(5000)
  sctp.setState(STATE.established)
  await Promise.race([sctp.send(0, 51, Buffer.from('x'), { ordered: true }), undefined])
  for (let i = 0; i < 11; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    timer.fire('retransmit')
  }
  assert.deepEqual(timer.delays.slice(0, 6), [1000, 2000, 4000, 8000, 8000, 8000])
  assert.deepEqual(failures, ['unacknowledged'])
  assert.equal(timer.pending.size, 0)
})

test('an unanswered INIT is sent again with back-off, and ends', async () => {
  sctp.isServer = false
  await sctp.start(5000)
  for (let i = 0; i < 9; i++) timer.fire('init')
  assert.deepEqual(timer.delays.slice(0, 5), [1000, 2000, 4000, 8000, 8000])
  assert.deepEqual([sent, failures], [9, ['no_answer']])
})

test('no heartbeats: an idle association has no timer', async () => {
  await sctp.start(5000)
  sctp.setState(STATE.established)
  assert.equal(timer.pending.size, 0)
  assert.equal(process.getActiveResourcesInfo().includes('Timeout'), false)
})

test('the timeout follows the round trip, from 0.4 to 8 seconds', () => {
  sctp.updateRto(0.02)
  assert.equal(sctp.rto, 0.4)
  sctp.updateRto(-5)
  assert.ok(sctp.rto >= 0.4)
  for (let i = 0; i < 30; i++) sctp.updateRto(60)
  assert.equal(sctp.rto, 8)
})
