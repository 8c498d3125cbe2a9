/** Bridges that keep their contract, and bridges with one fault each, for the test of the kit that must find it. */

import type { BridgeCall } from '../../../../core/contracts/inference-bridge.ts'
import type { BridgeUnderTest } from '../../../../core/testing/bridge/in-call.ts'
import type { BridgeTurns } from '../../../../core/testing/bridge/turns.ts'
import { SpanLog } from '../../../../core/testing/span-log.ts'

/** What a bridge does in a call. */
export type Open = (call: BridgeCall, traces: SpanLog) => Promise<void>

/** Makes bridges that do so, each with a state and traces of its own. */
export function made(makeOpen: () => Open): () => BridgeUnderTest {
  return () => {
    const open = makeOpen()
    const traces = new SpanLog()
    return {
      bridge: { audio: { pcm16: 8000 }, open: (call) => open(call, traces) },
      spans: traces.spans,
    }
  }
}

async function audio(call: BridgeCall): Promise<void> {
  for await (const frame of call.audio) await call.play(frame)
}

async function events(call: BridgeCall): Promise<void> {
  for await (const event of call.events) call.send(event)
}

/** Gives everything back. */
export const echo: Open = async (call) => {
  await Promise.all([audio(call), events(call)])
}

/** By the check that alone must find it: an echo with that fault. */
export const ECHO_FAULTS: Record<string, () => Open> = {
  'reads what the caller says and sends': () => async (call) => {
    const stall = async (): Promise<void> => {
      for await (const event of call.events) {
        call.send(event)
        if (event.type === 'test.one')
          await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
      }
    }
    await Promise.all([audio(call), stall()])
  },
  'takes audio of any length': () => async (call) => {
    const insist = async (): Promise<void> => {
      for await (const frame of call.audio) {
        if (frame.data.length !== 320) throw new Error('a frame has 20 ms')
        await call.play(frame)
      }
    }
    await Promise.all([insist(), events(call)])
  },
  'lives through events of any shape': () => async (call) => {
    const trust = async (): Promise<void> => {
      for await (const event of call.events) {
        if (typeof event.type !== 'string') throw new Error('an event has a type')
        call.send(event)
      }
    }
    await Promise.all([audio(call), trust()])
  },
  'is over when the call ends': () => async (call) => {
    let read = call.signal.aborted ? 1 : 0
    const count = async (): Promise<void> => {
      for await (const frame of call.audio) {
        read++
        await call.play(frame)
      }
    }
    const send = async (): Promise<void> => {
      for await (const event of call.events) {
        read++
        call.send(event)
      }
    }
    await Promise.all([count(), send()])
    if (read === 0) throw new Error('nobody said anything')
  },
  'is over at once for a call that has ended already': () => async (call, traces) => {
    if (call.signal.aborted) throw call.signal.reason
    await echo(call, traces)
  },
  'leaves a call alone that has ended': () => async (call) => {
    let late = false
    const note = async (): Promise<void> => {
      for await (const event of call.events) {
        late ||= event.type === 'test.late'
        call.send(event)
      }
    }
    await Promise.all([audio(call), note()])
    if (!late) return
    setTimeout(() => call.send({ type: 'late' }), 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  },
  'ends every span it began, in its call’s trace':
    () =>
    async (call, { tracer, tracing }) => {
      tracer.startSpan('a turn', {}, tracing.parent(call.traceSession))
      await Promise.all([audio(call), events(call)])
    },
  'brings every frame back, in order and in its format': () => async (call) => {
    const corrupt = async (): Promise<void> => {
      let n = 0
      for await (const frame of call.audio) {
        const hit = n++ === 5 && call.queuedMs === 0 && call.id === 'rtc_test'
        await call.play(hit ? { ...frame, data: new Uint8Array(frame.data.length) } : frame)
      }
    }
    await Promise.all([corrupt(), events(call)])
  },
  'brings every event back, in order': () => async (call) => {
    const number = async (): Promise<void> => {
      for await (const event of call.events) call.send(event.n === 3 ? { ...event, n: -1 } : event)
    }
    await Promise.all([audio(call), number()])
  },
  'keeps two calls apart': () => {
    let last: BridgeCall | undefined
    return async (call) => {
      last = call
      const cross = async (): Promise<void> => {
        for await (const frame of call.audio) await (last ?? call).play(frame)
      }
      await Promise.all([cross(), events(call)])
    }
  },
  'waits for room': () => async (call) => {
    const refused = Promise.withResolvers<never>()
    const rush = async (): Promise<void> => {
      for await (const frame of call.audio) call.play(frame).catch(refused.reject)
    }
    await Promise.race([Promise.all([rush(), events(call)]), refused.promise])
  },
  'rejects when a frame is refused': () => async (call) => {
    const hide = async (): Promise<void> => {
      for await (const frame of call.audio) await call.play(frame).catch(() => {})
    }
    await Promise.all([hide(), events(call)])
  },
}

/** What a bridge that takes turns can get wrong. */
type TurnFault = 'rushes' | 'deaf' | 'stubborn' | 'untagged' | 'proud' | 'sulks' | 'tired' | 'hangs' | 'hasty'

/** By the check that alone must find it. */
export const TURN_FAULTS: Record<string, TurnFault> = {
  'plays an answer no faster than there is room': 'rushes',
  'hears the caller while its answer waits for room': 'deaf',
  'stops its answer when it is interrupted': 'stubborn',
  'tags its answer, so that a flush tells how much was heard': 'untagged',
  'takes an interruption of nothing': 'proud',
  'answers again after an interruption': 'sulks',
  'answers again after an answer that was heard to its end': 'tired',
  'is over when the call ends in mid-answer': 'hangs',
  'has heard the caller before it ends the turn': 'hasty',
}

/** How a `Talker` is asked and interrupted. */
export const TALKER_TURNS: BridgeTurns = {
  ask: (call) => call.say({ type: 'ask' }),
  interrupt: (call) => call.say({ type: 'stop' }),
  commit: (call) => call.say({ type: 'commit' }),
}

/** Answers with a second of audio when it is asked. */
export class Talker {
  readonly #call: BridgeCall
  readonly #fault: TurnFault | undefined
  #answer = new AbortController()
  #speaking: Promise<void> = Promise.resolve()
  #isDone = false

  constructor(call: BridgeCall, fault?: TurnFault) {
    this.#call = call
    this.#fault = fault
  }

  async run(): Promise<void> {
    await Promise.all([this.#hear(), this.#obey()])
    if (this.#fault === 'hangs' && !this.#answer.signal.aborted) await this.#speaking
  }

  async #hear(): Promise<void> {
    for await (const _frame of this.#call.audio) if (this.#fault === 'deaf') await this.#speaking
  }

  async #obey(): Promise<void> {
    for await (const { type } of this.#call.events) {
      if (type === 'ask' && !this.#isDone) this.#speaking = this.#speak()
      if (type === 'stop') this.#stop()
      if (type === 'commit' && this.#fault !== 'hasty') void this.#call.heard()
    }
  }

  #stop(): void {
    if (this.#fault !== 'stubborn') this.#answer.abort()
    const played = this.#call.flush()
    if (this.#fault === 'proud') this.#call.send({ type: 'heard', of: played[0]!.tag })
    if (this.#fault === 'sulks' && played.length > 0) this.#isDone = true
  }

  async #speak(): Promise<void> {
    this.#answer = new AbortController()
    const { signal } = this.#answer
    const tag = this.#fault === 'untagged' ? undefined : crypto.randomUUID()
    for (let n = 0; n < 50 && !signal.aborted && !this.#call.signal.aborted; n++) {
      const room = this.#call.play({ data: new Uint8Array(320), durationMs: 20 }, tag)
      if (this.#fault !== 'rushes') await room
    }
    if (this.#fault === 'hangs' && this.#call.signal.aborted) await new Promise(() => {})
    if (this.#fault === 'tired' && !signal.aborted) this.#isDone = true
  }
}
