/**
 * `npm run flood`: a hundred calls through a relay and floods beside them, each kind at half of what the relay forwards
 * at most, then as fast as this machine sends.
 *
 *     npm run flood -- --way "in a thread" --calls 100 --seconds 5
 *
 * Exit codes: 0 all held; 1 it could not run; 2 calls lost more than 0.1%, or were not whole a second after the end,
 * memory grew, Redis was asked more often than its share or holds more than the calls, or a flood was answered. Figures of a machine that does
 * something else as well mean little. Linux.
 */

import { setPriority } from 'node:os'
import { parseArgs } from 'node:util'
import { allowedCpus, pinThread } from '../../core/ffi/cpus.ts'
import { libc } from '../../core/ffi/libc.ts'
import { WAYS } from '../integration/support/relay-ways.ts'
import { findProgram } from '../needs.ts'
import { RedisServer } from '../peers/redis-server.ts'
import { faultsOf } from './bounds.ts'
import { FloodedRelay, type FloodReport } from './flooded-relay.ts'
import { KINDS } from './kinds.ts'

/** The part of the time that the calls and floods must have their processor, which they never leave. */
const QUIET = 0.9

const USAGE = `npm run flood -- [--way ${WAYS.map(({ name }) => `"${name}"`).join('|')}] [--calls 100] [--seconds 5]`

/** What was asked for; throws with how to ask. */
function asked(): { way: string; calls: number; seconds: number } {
  const { values } = parseArgs({
    strict: false,
    options: {
      way: { type: 'string', default: 'in a thread' },
      calls: { type: 'string', default: '100' },
      seconds: { type: 'string', default: '5' },
    },
  })
  const { way, calls, seconds, ...unknown } = values
  const isKnown = WAYS.some(({ name }) => name === way) && Object.keys(unknown).length === 0
  if (!isKnown || !(Number(calls) > 0) || !(Number(seconds) > 0)) throw new Error(USAGE)
  return { way: String(way), calls: Number(calls), seconds: Number(seconds) }
}

function line(report: FloodReport): string {
  const { kind, rate, loss, lossAfter, p99, residentBytes, grown, lookUps } = report
  const mega = (bytes: number): string => (bytes / 1_048_576).toFixed(1)
  return [
    kind.padEnd(25),
    `${Math.round(rate)}/s`.padStart(10),
    `loss ${(loss * 100).toFixed(3)}%`.padStart(13),
    `after it ${(lossAfter * 100).toFixed(3)}%`.padStart(16),
    `p99 ${Math.round(p99)} µs`.padStart(14),
    `RSS ${mega(residentBytes)} MB (${grown >= 0 ? '+' : ''}${mega(grown)})`,
    `look-ups ${Math.round(lookUps)}/s`,
  ].join('  ')
}

async function main(): Promise<number> {
  const wanted = asked()
  const calls = libc()
  if (calls === undefined) throw new Error('there are no system calls for UDP in batches here')
  const cpus = allowedCpus(calls)
  const own = cpus.at(-1)!
  // The relay has what is left; on a single processor they share it.
  const others = cpus.length > 1 ? cpus.slice(0, -1) : cpus
  await using redis = findProgram('redis') ? await RedisServer.start() : undefined
  await using relay = await FloodedRelay.start(calls, {
    way: wanted.way,
    calls: wanted.calls,
    cpus: others,
    redis: redis?.url,
  })
  pinThread(calls, own)
  // As the relay has it: otherwise the load would wait for neighbours, and measure that.
  if (process.getuid?.() === 0) setPriority(-15)
  const { seconds } = wanted
  console.log(
    `a relay, ${wanted.calls} calls through it, and floods beside them, ${2 * KINDS.length} of ${seconds} s each`,
  )
  relay.maximum(1_000)
  const maximum = relay.maximum(2_000)
  console.log(`${wanted.way}: forwards ${Math.round(maximum)} datagrams/s at most`)
  const { loss, loadShare } = relay.calm(2_000)
  console.log(`${wanted.calls} calls alone lose ${(loss * 100).toFixed(3)}%`)
  if (loss > 0 || loadShare < QUIET) console.log('others keep this machine busy: what follows means little')
  let isWrong = false
  for (const rate of [maximum / 2, Number.POSITIVE_INFINITY]) {
    console.log(rate === maximum / 2 ? '\nat half of that' : '\nas fast as can be')
    for (const kind of KINDS) {
      const report = await relay.under(kind, rate, seconds * 1000)
      const faults = faultsOf(report)
      console.log([line(report), ...faults].join('\n  WRONG: '))
      isWrong ||= faults.length > 0
    }
  }
  if (redis === undefined) console.log('\nno Redis here: the store knew nobody')
  else {
    const keys = Number(await redis.command('DBSIZE'))
    console.log(`\nRedis holds ${keys} entries, and may hold one for each call`)
    isWrong ||= keys > wanted.calls
  }
  return isWrong ? 2 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  if (error instanceof Error && error.message === USAGE) console.error(`usage: ${USAGE}`)
  else console.error('could not run:', error)
  process.exitCode = 1
}
