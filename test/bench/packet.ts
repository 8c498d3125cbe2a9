/**
 * Server CPU of one audio packet each way: in, decrypted, through the loopback bridge, encrypted, out. Calls as in life,
 * 50 packets a second each, their keep-alive included; the servers take turns, medians.
 */

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestClient } from '../peers/client.ts'
import type { BenchOptions, BenchResult } from './result.ts'
import { closeAll, connectMany, pump } from './support/load.ts'
import { ServerProcess } from './support/server-process.ts'
import { median } from './support/statistics.ts'

/** A typical Opus packet of 20 ms. */
const PAYLOAD_BYTES = 80
const TARGET = 1.0

/** How long the last packets may take to come back: a bridge's queue, or a machine that is busy with other things. */
const LAST_MS = 3000

/** Microseconds a packet each way, in one turn of one server. */
async function turn(server: ServerProcess, clients: readonly TestClient[], ms: number): Promise<number> {
  const payload = Buffer.concat([Buffer.of(31 << 3), randomBytes(PAYLOAD_BYTES - 1)])
  const received = (): number => clients.reduce((sum, client) => sum + client.audio.total, 0)
  const before = received()
  let sent = 0
  const cpu = await server.cpuDuring(async () => {
    sent = await pump(clients, payload, ms)
    const end = performance.now() + LAST_MS
    while (received() - before < sent && performance.now() < end) await delay(5)
  })
  const back = received() - before
  if (back < sent * 0.85) throw new Error(`${server.kind} gave back ${back} of ${sent} packets`)
  return cpu / sent
}

/** Runs it; about 40 s, or 6 when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  const calls = quick ? 20 : 60
  const turns = quick ? 1 : 5
  const milliseconds = quick ? 500 : 2000
  await using edge = await ServerProcess.start('edge')
  await using relayed = await ServerProcess.start('edge with relay')
  await using theirs = await ServerProcess.start('libdatachannel')
  const servers = [edge, relayed, theirs]
  const clients = new Map<ServerProcess, TestClient[]>()
  const costs = new Map(servers.map((server) => [server, [] as number[]]))
  try {
    for (const server of servers) clients.set(server, await connectMany(server, calls))
    for (let i = -1; i < turns; i++) {
      for (const server of servers) {
        const cost = await turn(server, clients.get(server)!, milliseconds)
        // The first turn warms up.
        if (i >= 0) costs.get(server)!.push(cost)
      }
    }
  } finally {
    await Promise.all([...clients.values()].map((some) => closeAll(some)))
  }
  const [ours, withRelay, peer] = servers.map((server) => median(costs.get(server)!))
  const ratio = ours! / peer!
  return {
    name: 'packet',
    figures: [
      {
        label: `one packet of ${PAYLOAD_BYTES} B each way, ${calls} calls`,
        value: ours!,
        unit: 'µs',
        peers: [{ label: 'libdatachannel', value: peer!, ratio }],
        target: `≤ ${TARGET.toFixed(1)}× libdatachannel`,
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
