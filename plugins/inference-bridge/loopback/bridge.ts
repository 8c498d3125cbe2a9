/** A bridge that gives the caller back what the caller says: each Opus packet, untouched, and each event. */

import type { BridgeCall, InferenceBridge } from '../../../core/index.ts'

/** Holds no state, so one serves every call. */
export const loopback: InferenceBridge = Object.freeze({
  audio: 'opus' as const,
  async open(call: BridgeCall): Promise<void> {
    await Promise.all([echoAudio(call), echoEvents(call)])
  },
})

async function echoAudio(call: BridgeCall): Promise<void> {
  for await (const frame of call.audio) await call.play(frame)
}

async function echoEvents(call: BridgeCall): Promise<void> {
  for await (const event of call.events) call.send(event)
}
