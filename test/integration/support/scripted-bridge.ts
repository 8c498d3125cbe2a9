/**
 * A bridge that does what a test tells it, as a plugin: by the call's model as soon as it is opened, or by an event
 * `{ "type": "do", "what": … }` in mid-call. Otherwise it gives audio and events back.
 */

import { type BridgeCall, definePlugin, EdgeError, InferenceBridge, Type } from '../../../core/index.ts'

/** What it can do. */
export type Deed = 'throw' | 'reject' | 'fail' | 'return' | 'end' | 'never'

/** Calls that a bridge has been given and that have not ended, and how many have. */
export const scripted = { open: new Set<BridgeCall>(), aborted: 0 }

function act(deed: string, call: BridgeCall): Promise<void> | undefined {
  switch (deed) {
    case 'throw':
      throw new Error('thrown by the bridge')
    case 'reject':
      return Promise.reject(new Error('secret: the backend’s password is 1234'))
    case 'fail':
      return Promise.reject(new EdgeError('bridge_timeout', 'The backend did not answer.'))
    case 'return':
      return Promise.resolve()
    case 'end':
      call.end('said_goodbye')
      return new Promise(() => {})
    case 'never':
      return new Promise(() => {})
    default:
      return undefined
  }
}

async function echo(call: BridgeCall): Promise<void> {
  const told = Promise.withResolvers<void>()
  const events = async (): Promise<void> => {
    for await (const event of call.events) {
      if (event.type !== 'do') call.send(event)
      else void (async () => act(String(event.what), call))().then(told.resolve, told.reject)
    }
  }
  const audio = async (): Promise<void> => {
    for await (const frame of call.audio) await call.play(frame)
  }
  await Promise.race([told.promise, Promise.all([events(), audio()])])
}

export default definePlugin({
  name: 'scripted-bridge',
  api: 1,
  options: Type.Object({}),
  provides: { bridge: InferenceBridge },
  setup: () => ({
    bridge: {
      audio: 'opus' as const,
      // Not async, so that it can throw before there is a promise.
      open(call: BridgeCall): Promise<void> {
        scripted.open.add(call)
        call.signal.addEventListener('abort', () => {
          scripted.open.delete(call)
          scripted.aborted++
        })
        return act(call.model ?? '', call) ?? echo(call)
      },
    },
  }),
})
