/** Opens a WebSocket to the backend, within a time and while the call lasts. */

import { WebSocket } from 'ws'
import { EdgeError } from '../../../core/index.ts'
import type { WebSocketOptions } from './options.ts'

/**
 * Resolves to an open, paused socket: `resume` it once its listeners are on. Rejects with EdgeError
 * `bridge_timeout` or `bridge_failed`; resolves to undefined when `signal` aborts first. Leaves no socket open
 * unless it resolves to one.
 */
export function connect(options: WebSocketOptions, signal: AbortSignal): Promise<WebSocket | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const { origin } = new URL(options.url)
    const socket = new WebSocket(options.url, {
      headers: options.headers,
      maxPayload: options.maxMessageBytes,
      // Audio does not compress, and the contexts would cost more memory than a call.
      perMessageDeflate: false,
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
        socket.pause()
        resolve(socket)
      })
    const onError = (cause: Error): void =>
      giveUp(() =>
        reject(
          new EdgeError('bridge_failed', `The backend at ${origin} refused: ${cause.message}.`, { cause }),
        ),
      )
    const onAbort = (): void => giveUp(() => resolve(undefined))
    const onTimeout = (): void =>
      giveUp(() => {
        const took = `${options.connectTimeoutMs} ms`
        reject(new EdgeError('bridge_timeout', `The backend at ${origin} did not answer within ${took}.`))
      })
    const timer = setTimeout(onTimeout, options.connectTimeoutMs)
    signal.addEventListener('abort', onAbort)
    socket.on('open', onOpen).on('error', onError)
  })
}
