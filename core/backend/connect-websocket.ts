/** Opens a WebSocket to a backend, within a time and while the call lasts. */

import type { WebSocket } from 'ws'
import { EdgeError } from '../errors.ts'
import { inTurns, takeTurns } from '../websocket-turns.ts'

/** Where to, and how. */
export interface WebSocketConnectOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly connectTimeoutMs: number
  /** The largest message that the backend may send. */
  readonly maxMessageBytes: number
}

/**
 * Resolves to an open, paused socket: `resume` it once its listeners are on. Rejects with EdgeError
 * `bridge_timeout` or `bridge_failed`; resolves to undefined when `signal` aborts first. Leaves no socket open
 * unless it resolves to one. However much the backend sends at once, other calls have their turn (core/websocket-turns.ts).
 */
export async function connectWebSocket(
  options: WebSocketConnectOptions,
  signal: AbortSignal,
): Promise<WebSocket | undefined> {
  // Loaded here, since plugins' door leads past this file and most of what uses that calls no backend.
  const { WebSocket } = await import('ws')
  if (signal.aborted) return undefined
  return new Promise((resolve, reject) => {
    const { url, headers, connectTimeoutMs, maxMessageBytes } = options
    const socket = new WebSocket(url, {
      headers,
      // Audio hardly compresses, in base64 neither, and the contexts would cost more memory than a call.
      perMessageDeflate: false,
      ...inTurns(maxMessageBytes),
    })
    const settle = (give: () => void): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      socket.off('open', onOpen).off('error', onError)
      give()
    }
    const giveUp = (give: () => void): void =>
      settle(() => {
        socket.on('error', () => {})
        socket.terminate()
        give()
      })
    const onOpen = (): void =>
      settle(() => {
        takeTurns(socket)
        socket.pause()
        resolve(socket)
      })
    const onError = (cause: Error): void =>
      giveUp(() => reject(failed('bridge_failed', url, `refused: ${cause.message}`, cause)))
    const onAbort = (): void => giveUp(() => resolve(undefined))
    const onTimeout = (): void =>
      giveUp(() => reject(failed('bridge_timeout', url, `did not answer within ${connectTimeoutMs} ms`)))
    const timer = setTimeout(onTimeout, connectTimeoutMs)
    signal.addEventListener('abort', onAbort)
    socket.on('open', onOpen).on('error', onError)
  })
}

/** Names the origin only: a path or a query may hold a secret. */
function failed(
  code: 'bridge_failed' | 'bridge_timeout',
  url: URL,
  what: string,
  cause?: unknown,
): EdgeError {
  return new EdgeError(code, `The backend at ${url.protocol}//${url.host} ${what}.`, { cause })
}
