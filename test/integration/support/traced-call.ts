/** A call through a relay process and a transceiver process that send their spans to a collector. */

import { callIds } from '../../../core/call-ids.ts'
import { TestClient } from '../../peers/client.ts'
import { advertising, type EdgeProcess, sharedSecrets, startRole } from '../../peers/edge-processes.ts'
import { postTo } from '../../peers/signaling.ts'
import { talkUntil } from './talk.ts'

/** The span, in a trace of its own, in which the caller makes its offer. */
export const CALLER = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) }

/** The parts, and the ids that follow from the session; all is closed at the end of the scope. */
export interface TracedCall extends AsyncDisposable {
  readonly relay: EdgeProcess
  readonly transceiver: EdgeProcess
  readonly client: TestClient
  /** As hex digits. */
  readonly session: string
  readonly traceId: string
  /** The root span's. */
  readonly spanId: string
}

/** A call in which sound came back. `otlp`: the collector's URL. */
export async function tracedCall(otlp: string): Promise<TracedCall> {
  await using parts = new AsyncDisposableStack()
  const env = { ...sharedSecrets(), OTEL_EXPORTER_OTLP_ENDPOINT: otlp }
  const relay = parts.use(await startRole('relay', env))
  const transceiver = parts.use(await startRole('transceiver', { ...env, ...advertising(relay) }))
  const post = postTo(transceiver.url, { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` })
  const client = parts.use(await TestClient.connect(post))
  await talkUntil(client, () => client.audio.length > 0)
  const session = String((await transceiver.logged('call started')).id)
  const ids = callIds(Buffer.from(session, 'hex'))
  const open = parts.move()
  return { relay, transceiver, client, session, ...ids, [Symbol.asyncDispose]: () => open.disposeAsync() }
}
