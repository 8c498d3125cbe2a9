/** The options of signaling, as the operator writes them among the transceiver's. */

import { type Static, Type } from '../../../core/index.ts'

const CallsPerKey = Type.Integer({
  minimum: 1,
  description:
    'Calls that one key may have at a time, or one ip where no keys are asked for; more are refused with 429. Default: as many as there are lines.',
})

/** How much one key may ask for. */
export const LimitsOption = Type.Object(
  {
    callsPerKey: Type.Optional(CallsPerKey),
    requestsPerMinute: Type.Integer({
      minimum: 1,
      default: 6000,
      description:
        'Signaling requests a minute from one key, or from one ip where no keys are asked for; more are refused with 429.',
    }),
    keys: Type.Record(
      Type.String(),
      Type.Object({
        callsPerKey: Type.Optional(CallsPerKey),
        requestsPerMinute: Type.Optional(Type.Integer({ minimum: 1 })),
      }),
      { default: {}, description: 'Limits of single keys, by their names in http.keys.' },
    ),
  },
  { default: {}, description: 'How much one API key may ask for.' },
)

/** What client secrets are sealed with. */
export const ClientSecretKeysOption = Type.Optional(
  Type.Array(Type.String({ minLength: 32, writeOnly: true }), {
    minItems: 1,
    description:
      'Secrets that client secrets are sealed with: the first seals, all of them open. Default: one made at the start, so that no other process takes them.',
  }),
)

/** The limits with their defaults filled in. */
export type LimitsOption = Static<typeof LimitsOption>
