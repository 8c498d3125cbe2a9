/**
 * An inference bridge to a backend that answers one request at a time: it collects what the caller says until there is
 * a pause, posts the samples to a URL, and plays the samples that come back. Who speaks meanwhile interrupts the answer.
 * It is the example of docs/guides/write-a-bridge.md, and can be copied into a folder of its own as it is.
 */

import { definePlugin, InferenceBridge, Type } from 'earshot'
import { Turns } from './turns.ts'

export default definePlugin({
  name: 'http-turns',
  api: 1,
  options: Type.Object({
    url: Type.String({ pattern: '^https?://', description: 'Gets a turn as PCM16, answers with PCM16.' }),
    key: Type.Optional(Type.String({ writeOnly: true, description: 'Sent as a bearer token.' })),
    pauseMs: Type.Integer({ minimum: 100, default: 700, description: 'A silence this long ends a turn.' }),
  }),
  provides: { bridge: InferenceBridge },
  setup(options, _services, context) {
    const answers = context.meter.createCounter('earshot.http_turns.answers', { unit: '{answer}' })
    return {
      bridge: {
        audio: { pcm16: 16000 },
        open: (call) => new Turns(call, options, () => answers.add(1)).run(),
      },
    }
  },
})
