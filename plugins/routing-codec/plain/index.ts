/** The `plain` routing codec: texts that people can read, and anybody can write. For debugging. */

import { definePlugin, RoutingCodec, Type } from '../../../core/index.ts'
import { plainCodec } from './codec.ts'

/** The operator's options. */
export const Options = Type.Object(
  {
    insecure: Type.Boolean({
      default: false,
      description: 'Must be true: whoever can send to a relay can make up routes.',
    }),
  },
  { additionalProperties: false },
)

export default definePlugin({
  name: 'plain-routing-codec',
  api: 1,
  options: Options,
  provides: { codec: RoutingCodec },
  check({ insecure }) {
    if (insecure) return []
    return [
      {
        pointer: '/insecure',
        message: 'the plain codec protects nothing: anybody can read where calls live and make up routes',
        hint: 'use plugins/routing-codec/sealed, or set "insecure": true to debug with it',
      },
    ]
  },
  async setup(_options, _services, { log }) {
    log.warn('the plain routing codec is in use: whoever can send to a relay can make up routes')
    return { codec: plainCodec }
  },
})
