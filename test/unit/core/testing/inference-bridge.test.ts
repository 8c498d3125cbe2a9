import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BridgeCall, InferenceBridge } from '../../../../core/contracts/inference-bridge.ts'
import { EdgeError } from '../../../../core/errors.ts'
import {
  type BridgeUnderTest,
  checkInferenceBridge,
  inferenceBridgeChecks,
} from '../../../../core/testing/inference-bridge.ts'

async function audio(call: BridgeCall): Promise<void> {
  for await (const frame of call.audio) await call.play(frame)
}

async function events(call: BridgeCall): Promise<void> {
  for await (const event of call.events) call.send(event)
}

type Open = (call: BridgeCall) => Promise<void>

const good: Open = async (call) => {
  await Promise.all([audio(call), events(call)])
}

function made(open: Open): () => BridgeUnderTest {
  const bridge: InferenceBridge = { audio: { pcm16: 8000 }, open }
  return () => ({ bridge })
}

const claims = {
  echoes: true,
  aheadMs: 20,
  broken: made(async () => {
    throw new EdgeError('bridge_failed', 'nobody there')
  }),
}

checkInferenceBridge('an echo', made(good), claims)

/** What each check must catch: a bridge with exactly that fault. */
const faults: Record<string, Open> = {
  'reads what the caller says and sends': async (call) => audio(call),
  'is over when the call ends': async (call) => {
    await good(call)
    throw new Error('it ended')
  },
  'is over at once for a call that has ended already': async (call) => {
    if (call.signal.aborted) throw call.signal.reason
    await good(call)
  },
  'leaves a call alone that has ended': async (call) => {
    await good(call)
    setTimeout(() => call.send({ type: 'late' }), 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  },
  'brings every frame back, in order and in its format': async (call) => {
    const swallow = async (): Promise<void> => {
      let n = 0
      for await (const frame of call.audio)
        if (n++ !== 7) await call.play(frame)
        else await call.play({ ...frame, data: new Uint8Array(frame.data.length) })
    }
    await Promise.all([swallow(), events(call)])
  },
  'brings every event back, in order': async (call) => {
    const number = async (): Promise<void> => {
      let n = 0
      for await (const event of call.events) call.send({ ...event, n: n++ === 3 ? -1 : (event.n ?? 0) })
    }
    await Promise.all([audio(call), number()])
  },
  'keeps two calls apart': crossed(),
  'waits for room': async (call) => {
    const rush = async (): Promise<void> => {
      for await (const frame of call.audio) void call.play(frame)
    }
    await Promise.all([rush(), events(call)])
  },
  'rejects when a frame is refused': async (call) => {
    const hide = async (): Promise<void> => {
      for await (const frame of call.audio) await call.play(frame).catch(() => {})
    }
    await Promise.all([hide(), events(call)])
  },
}

/** Plays each call's audio to the call that was opened last. */
function crossed(): Open {
  let last: BridgeCall | undefined
  return async (call) => {
    last = call
    const cross = async (): Promise<void> => {
      for await (const frame of call.audio) await (last ?? call).play(frame)
    }
    await Promise.all([cross(), events(call)])
  }
}

/** As `eventually` waits for what such a bridge never does, time is made short. */
async function fails(run: () => Promise<void>): Promise<void> {
  await assert.rejects(run())
}

describe('the inference bridge kit fails on', { concurrency: true }, () => {
  for (const [name, open] of Object.entries(faults)) {
    test(`a bridge that does not: ${name}`, async () => {
      const check = inferenceBridgeChecks(made(open), claims).find(([what]) => what === name)
      assert.ok(check, 'there is no such check')
      await fails(check[1])
    })
  }

  test('a bridge that hangs without a backend, throws, or rejects with any error', async () => {
    const throws = (): Promise<void> => {
      throw new EdgeError('bridge_failed', 'thrown')
    }
    const anyError = async (): Promise<void> => {
      throw new Error('any')
    }
    for (const open of [throws, anyError, async () => {}]) {
      const checks = inferenceBridgeChecks(made(good), { broken: made(open) })
      await fails(checks.at(-1)![1])
    }
  })

  test('nothing else: every check has its fault', () => {
    const names = inferenceBridgeChecks(made(good), claims).map(([name]) => name)
    assert.deepEqual(names.slice(0, -1), Object.keys(faults))
  })
})
