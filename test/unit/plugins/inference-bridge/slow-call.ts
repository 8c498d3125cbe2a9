/** A call that takes its time with each event that is sent to the client. */

import type { FakeCall } from '../../../../core/testing/fake-call.ts'
import { work } from '../../core/event-loop-turns.ts'

/** Makes each of the call's `send` keep the thread busy for so many milliseconds. */
export function slowToSend(call: FakeCall, ms: number): void {
  const send = call.send.bind(call)
  call.send = (event) => {
    work(ms)
    send(event)
  }
}
