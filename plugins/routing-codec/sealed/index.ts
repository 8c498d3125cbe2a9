/** The `sealed` routing codec as a plugin: keys from the config, from a watched file, or made at start. */

import { randomBytes } from 'node:crypto'
import { definePlugin, RoutingCodec, type Static, Type } from '../../../core/index.ts'
import { SealedCodec } from './codec.ts'
import { KeyOption } from './key-option.ts'
import { duplicateIds, type RoutingKey } from './keys.ts'
import { KeysFile } from './keys-file.ts'
import { observe } from './metrics.ts'

const POLL_MS = 3000

/** The operator's options. */
export const Options = Type.Object(
  {
    keys: Type.Optional(
      Type.Array(KeyOption, {
        minItems: 1,
        maxItems: 256,
        description: 'The first encodes, all decode. Without keys one is made at start.',
      }),
    ),
    keysFile: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'A JSON file with a list like `keys`; re-read when it changes.',
      }),
    ),
  },
  { additionalProperties: false },
)

export default definePlugin({
  name: 'sealed-routing-codec',
  api: 1,
  options: Options,
  provides: { codec: RoutingCodec },
  check(options: Static<typeof Options>) {
    const problems = duplicateIds(options.keys ?? []).map((p) => ({ ...p, pointer: `/keys${p.pointer}` }))
    if (options.keys && options.keysFile !== undefined) {
      problems.push({
        pointer: '/keysFile',
        message: 'keys and keysFile are both given',
        hint: 'keep one of them',
      })
    }
    return problems
  },
  async setup(options, _services, { log, meter, onClose }) {
    const counters = { faults: 0 }
    if (options.keysFile === undefined) {
      if (!options.keys) {
        log.info(
          'no routing key is configured: one was made for this process; relays and transceivers in other processes will not understand it',
        )
      }
      const codec = new SealedCodec(options.keys ?? [randomKey()])
      observe(meter, codec, counters)
      return { codec }
    }
    const file = new KeysFile(options.keysFile, {
      onKeys(keys) {
        codec.replace(keys)
        log.info({ keyIds: keys.map((key) => key.id) }, 'routing keys re-read')
      },
      onBad(reason) {
        counters.faults++
        log.warn({ file: options.keysFile, reason }, 'routing keys file is bad: keeping the keys in use')
      },
    })
    const codec = new SealedCodec(await file.load())
    observe(meter, codec, counters)
    file.watch(POLL_MS)
    onClose(() => file.stop())
    return { codec }
  },
})

/** The id is random too, so that a text of another process is most often turned away before any cryptography. */
function randomKey(): RoutingKey {
  return { id: randomBytes(1)[0]!, key: randomBytes(16).toString('hex') }
}
