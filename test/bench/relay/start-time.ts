/** How long after its start our relay hears its public port: the process, from nothing to a bound socket. */

import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { stop } from './pinned.ts'
import { isBound } from './proc.ts'
import { type Place, productCommand } from './product.ts'
import { freePorts } from './relay-under-test.ts'

const START_WITHIN_MS = 20_000

/** Milliseconds of one start, as an operator starts it. Rejects when it does not listen. */
export async function startTime({
  folder,
  transceiver,
}: Pick<Place, 'folder' | 'transceiver'>): Promise<number> {
  const port = await freePorts(1)
  const upstream = await freePorts(1)
  const [node, ...args] = await productCommand({ folder, port, upstream, transceiver }, {}, [])
  const begin = performance.now()
  const child = spawn(node!, args, { stdio: 'ignore' })
  try {
    while (!isBound(port)) {
      if (child.exitCode !== null || performance.now() - begin > START_WITHIN_MS) {
        throw new Error('our relay does not listen')
      }
      await delay(1)
    }
    return performance.now() - begin
  } finally {
    await stop(child)
  }
}
