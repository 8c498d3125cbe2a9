/** With runs of datagrams sent as one (UDP GSO), no client's datagram costs another's. */

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { type Arrived, mixedSizes } from './support/mixed-sizes.ts'
import { THREADS } from './support/relay-ways.ts'

const run = promisify(execFile)
const PROGRAM = join(import.meta.dirname, 'support', 'mixed-sizes.ts')

/** A network of its own, whose path carries no more than 1300 bytes. */
const SMALL_PATH = ['-n', 'sh', '-c', 'ip link set lo mtu 1300 up && exec "$@"', 'sh']
const noNamespace =
  spawnSync('unshare', [...SMALL_PATH, 'true']).status === 0 ? false : 'no network of its own without root'

describe('one client’s oversize packets cost nobody else’s, with segments on', THREADS[0]!.needs, () => {
  it('longer than any Ethernet carries: they join no run', async () => {
    const { sent, small, large } = await mixedSizes(2_000)
    assert.deepEqual({ small, large }, { small: sent, large: sent })
  })

  it('longer than this path carries: the run is refused, and its datagrams go one by one', {
    skip: noNamespace,
  }, async () => {
    const { stdout } = await run('unshare', [...SMALL_PATH, process.execPath, PROGRAM, '1380'])
    const { sent, small, large }: Arrived = JSON.parse(stdout)
    assert.deepEqual({ small, large }, { small: sent, large: sent })
  })
})
