/**
 * A bridge that talks without listening, as a plugin: from the event `talk` to the event `hush` it plays a packet each
 * 20 ms, whatever the caller says. Then it says how many have left: `{ "type": "hushed", "packets": … }`.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { type BridgeCall, definePlugin, InferenceBridge, Type } from '../../../core/index.ts'
import { packetOf } from './numbered-packet.ts'

const PACKET_MS = 20

async function serve(call: BridgeCall): Promise<void> {
  let talking: Promise<number> | undefined
  let hush = false
  const talk = async (): Promise<number> => {
    let packets = 0
    for (; !hush && !call.signal.aborted; packets++) {
      await call.play({ data: packetOf(packets), durationMs: PACKET_MS })
    }
    while (call.queuedMs > 0 && !call.signal.aborted) await delay(PACKET_MS)
    return packets
  }
  const listen = async (): Promise<void> => {
    for await (const { type } of call.events) {
      if (type === 'talk') talking ??= talk()
      if (type !== 'hush' || !talking) continue
      hush = true
      call.send({ type: 'hushed', packets: await talking })
    }
  }
  const ignore = async (): Promise<void> => {
    for await (const _ of call.audio);
  }
  await Promise.all([listen(), ignore()])
}

export default definePlugin({
  name: 'talking-bridge',
  api: 1,
  options: Type.Object({}),
  provides: { bridge: InferenceBridge },
  setup: () => ({ bridge: { audio: 'opus' as const, open: serve } }),
})
