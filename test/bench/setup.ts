/**
 * Server CPU of one call's set-up: the offer over HTTP, ICE, DTLS, SCTP, until the data channel is open. Certificates
 * are ECDSA P-256 and the server is the DTLS server on both sides; the servers take turns, medians.
 */

import type { TestClient } from '../peers/client.ts'
import type { BenchOptions, BenchResult } from './result.ts'
import { closeAll, connectMany } from './support/load.ts'
import { ServerProcess } from './support/server-process.ts'
import { median } from './support/statistics.ts'

const TARGET = 0.6

/** Calls before the count: a server lives longer than the thousand that the engine takes to optimise its code. */
const WARM_UP = 1500

/** Microseconds a call. */
async function turn(server: ServerProcess, calls: number): Promise<number> {
  let clients: TestClient[] = []
  const cpu = await server.cpuDuring(async () => {
    clients = await connectMany(server, calls)
  })
  await closeAll(clients, server)
  return cpu / calls
}

async function warmUp(server: ServerProcess, quick: boolean): Promise<void> {
  const total = quick ? 30 : WARM_UP
  for (let done = 0; done < total; done += 100) await turn(server, Math.min(100, total - done))
}

/** Runs it; about a minute, or 8 s when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  const calls = quick ? 10 : 50
  const turns = quick ? 2 : 7
  await using edge = await ServerProcess.start('edge')
  await using relayed = await ServerProcess.start('edge with relay')
  await using theirs = await ServerProcess.start('libdatachannel')
  const servers = [edge, relayed, theirs]
  const costs = new Map(servers.map((server) => [server, [] as number[]]))
  for (const server of servers) await warmUp(server, quick)
  for (let i = 0; i < turns; i++) {
    for (const server of servers) costs.get(server)!.push(await turn(server, calls))
  }
  const [ours, withRelay, peer] = servers.map((server) => median(costs.get(server)!))
  const ratio = ours! / peer!
  return {
    name: 'setup',
    figures: [
      {
        label: 'one call set up, data channel open',
        value: ours!,
        unit: 'µs',
        peers: [{ label: 'libdatachannel', value: peer!, ratio }],
        target: `≤ ${TARGET}× libdatachannel`,
        met: ratio <= TARGET,
      },
      {
        label: 'the same through a relay in the same process',
        value: withRelay!,
        unit: 'µs',
        peers: [{ label: 'libdatachannel, no relay', value: peer!, ratio: withRelay! / peer! }],
      },
    ],
  }
}
