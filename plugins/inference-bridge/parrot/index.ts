/** The parrot: a bridge that listens, waits for its turn, and gives your own words back. See README.md. */

import { definePlugin, InferenceBridge } from '../../../core/index.ts'
import { Conversation, type ParrotCounters } from './conversation.ts'
import { Options } from './options.ts'
import { VoiceDetectors } from './voice-detector.ts'

export default definePlugin({
  name: 'parrot',
  api: 1,
  options: Options,
  provides: { bridge: InferenceBridge },
  async setup(options, _services, { meter }) {
    const detectors = await VoiceDetectors.load()
    const answers = meter.createCounter('earshot.parrot.answers', {
      description: 'Turns that were answered',
      unit: '{answer}',
    })
    const interruptions = meter.createCounter('earshot.parrot.interruptions', {
      description: 'Answers that the caller spoke over',
      unit: '{interruption}',
    })
    const counters: ParrotCounters = {
      onAnswer: () => answers.add(1),
      onInterruption: () => interruptions.add(1),
    }
    return {
      bridge: {
        audio: { pcm16: 16_000 },
        open: (call) => new Conversation(call, options, detectors.open(options.strictness), counters).run(),
      },
    }
  },
})
