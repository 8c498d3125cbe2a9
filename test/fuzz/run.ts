/**
 * `npm run fuzz`: storms of bad datagrams on a live call, round after round, each with a seed of its own.
 *
 *     npm run fuzz -- --seconds 600 --seed 42 --count 200000
 *
 * It stops at the first thing that is wrong, with the seed that shows it again (`--seed` with `--rounds 1`), and exits
 * with 1.
 */

import { parseArgs } from 'node:util'
import { Prng } from '../../core/testing/prng.ts'
import { assertWhole, Conversation } from '../integration/support/conversation.ts'
import { HostileClient } from './hostile-client.ts'
import { LiveCall, memoryInUse } from './live-call.ts'
import { storm } from './storm.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: 'Infinity' },
    seed: { type: 'string' },
    count: { type: 'string', default: '50000' },
  },
})
const count = Number(values.count)
const rounds = Number(values.rounds)
const until = performance.now() + Number(values.seconds) * 1000
let seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)

const faults: unknown[] = []
process.on('uncaughtException', (fault) => faults.push(fault))
process.on('unhandledRejection', (fault) => faults.push(fault))

async function round(call: LiveCall, from: number): Promise<string> {
  const talk = new Conversation(call.client)
  let unread = 0
  for (const port of Object.values(call.ports)) {
    const ways = call.entrances.filter((entrance) => entrance.port === port)
    unread += (await storm(ways, count, from)).unread
  }
  await using hostile = await HostileClient.open(call.edge.post, new Prng(from))
  await storm(hostile.entrances(call.ports.public), count / 5, from)
  await hostile.sendTexts(count / 50)
  await talk.exchange(10)
  const account = await talk.finish()
  assertWhole(account)
  if (faults.length > 0) throw faults[0]
  if (call.receiveErrors > 0) throw new Error(`${call.receiveErrors} receivers threw`)
  const wrong = call.edge.log.find(({ level }) => level >= 50)
  if (wrong) throw new Error(`the edge logged: ${JSON.stringify(wrong)}`)
  const megabytes = (memoryInUse() / 1_048_576).toFixed(0)
  return `${3 * count} datagrams, ${unread} not read; the call: ${account.sent} packets, none lost; ${megabytes} MB`
}

console.log(`seed ${seed}, ${count} datagrams into each port a round`)
const call = await LiveCall.start()
await call.talk.finish()
try {
  for (let n = 1; n <= rounds && performance.now() < until; n++, seed++) {
    console.log(`round ${n}, seed ${seed}: ${await round(call, seed)}`)
  }
} catch (error) {
  console.error(`seed ${seed}:`, error)
  process.exitCode = 1
}
await call[Symbol.asyncDispose]()
