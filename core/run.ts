/** `earshot run FILE`: an edge for as long as the process lives, and what signals do to it. */

import { load } from './config/load.ts'
import { type Edge, start } from './host.ts'
import { guardProcess } from './process-guard.ts'
import { onStopSignals } from './signals.ts'
import { reportTelemetryFaults } from './telemetry.ts'
import { closeEarlySockets } from './udp/early-sockets.ts'

/** What was sent in the turn of an abort still leaves, and a relay in this process passes it on. Milliseconds. */
const LAST_PACKETS = 10

/** Says what is wrong, hiding secrets, and gives the exit code for it. */
export type Fail = (error: unknown, redact: (text: string) => string) => number

/**
 * Runs until a signal: then calls may finish for `drainSeconds`, everything closes, and the exit code is 0. A signal
 * during the start gives the start up, also with code 0. A second signal ends the process at once.
 *
 * Returns undefined, since the process lives on. Rejects with EdgeError when the config is wrong.
 */
export async function run(file: string, fail: Fail): Promise<undefined> {
  const asked = new AbortController()
  let edge: Edge | undefined
  let drainSeconds = 0
  onStopSignals({
    stop() {
      asked.abort()
      if (edge) stop(edge, drainSeconds)
    },
    abort(_signal, exitCode) {
      edge?.abort()
      setTimeout(() => process.exit(exitCode), LAST_PACKETS)
    },
  })
  const loaded = await load(file)
  drainSeconds = loaded.config.drainSeconds
  edge = await start(loaded, { signal: asked.signal }).catch((error: unknown) =>
    process.exit(asked.signal.aborted ? 0 : fail(error, loaded.redact)),
  )
  closeEarlySockets()
  guardProcess(edge.log, edge.telemetry.meter('earshot'))
  reportTelemetryFaults(edge.log)
  if (asked.signal.aborted) stop(edge, drainSeconds)
}

function stop(edge: Edge, drainSeconds: number): void {
  edge.log.info(
    `stopping: calls may finish, for ${drainSeconds} s at most; a second signal (Ctrl-C again) stops at once`,
  )
  edge.close().then(() => {
    edge.log.info('stopped')
    process.exit(0)
  })
}
