/**
 * Two clients through a relay that sends runs of datagrams as one (UDP GSO): one sends as much as may be too long for
 * the path, the other small media right behind it, which would join the run. As a program it prints what arrived.
 */

import { eventually } from '../../../core/testing/check.ts'
import { Stage } from './attack-stage.ts'
import { THREADS } from './relay-ways.ts'

const ROUNDS = 20
const BURST = 10

/** Datagrams sent and, at the transceiver, arrived. */
export interface Arrived {
  readonly sent: number
  readonly small: number
  readonly large: number
}

/** Sends as many of each, the large ones of so many bytes. Waits 5 s at most for what is missing. */
export async function mixedSizes(large: number): Promise<Arrived> {
  const way = THREADS.find(({ options }) => options.segments)!
  const stage = await Stage.open(way)
  try {
    const [one] = stage.transceivers
    const [glutton, other] = [await stage.client(), await stage.client()]
    for (const client of [glutton, other]) await stage.connect(client, one, stage.ufrag(one.local))
    const count = (length: number): number =>
      one.frames.filter(({ payload }) => payload.length === length).length
    const [huge, small] = [Buffer.alloc(large, 0x80), stage.media()]
    let sent = 0
    for (let round = 0; round < ROUNDS; round++) {
      for (let n = 0; n < BURST; n++, sent++) {
        glutton.send(huge)
        other.send(small)
      }
      const all = (): boolean => count(small.length) >= sent && count(large) >= sent
      await eventually('they arrive', all, 5_000).catch(() => undefined)
      if (!all()) break
    }
    return { sent, small: count(small.length), large: count(large) }
  } finally {
    await stage.close()
  }
}

if (import.meta.main) console.log(JSON.stringify(await mixedSizes(Number(process.argv[2]))))
