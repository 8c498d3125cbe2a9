/** Once the edge is ready nothing crashes the process: what nobody caught is logged and counted, and calls go on. */

import type { Meter } from '@opentelemetry/api'
import type { Logger } from 'pino'

/** At most this many entries a second are logged; the counter counts all. */
const LOGGED_PER_SECOND = 10

/** Catches uncaught exceptions and rejections of the whole process. Returns what ends it. */
export function guardProcess(log: Logger, meter: Meter): () => void {
  const counter = meter.createCounter('earshot.faults', {
    description: 'errors that nobody caught; each is a bug',
  })
  let second = 0
  let logged = 0
  const caught = (kind: string) => (err: unknown) => {
    counter.add(1, { kind })
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) logged = 0
    second = now
    if (logged++ < LOGGED_PER_SECOND) log.error({ err, kind }, 'an error that nobody caught')
  }
  const exception = caught('exception')
  const rejection = caught('rejection')
  process.on('uncaughtException', exception)
  process.on('unhandledRejection', rejection)
  return () => {
    process.off('uncaughtException', exception)
    process.off('unhandledRejection', rejection)
  }
}
