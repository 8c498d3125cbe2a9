/** The transceiver's `control` options, as its operator writes them. */

import { checkAllow, type Problem, type Static, Type } from '../../../core/index.ts'

/** The schema of `control`. */
export const ControlOptions = Type.Object(
  {
    keys: Type.Array(Type.String({ minLength: 32, writeOnly: true }), {
      minItems: 1,
      maxItems: 16,
      description:
        'Secrets that all transceivers of the cluster share, 32 characters or more, such as ${file:/run/secrets/control}. The first signs, all are taken.',
    }),
    allow: Type.Object(
      {
        cidrs: Type.Array(Type.String(), {
          default: ['127.0.0.0/8', '::1/128'],
          minItems: 1,
          description: 'Where the transceivers of the cluster are; nobody else is asked or listened to.',
        }),
        ports: Type.String({
          default: '3479',
          description: 'The port that they listen on, or a range of ports, 3479-3490.',
        }),
      },
      { default: {}, description: 'The only transceivers that this one talks to.' },
    ),
  },
  {
    description:
      'Lets a request about a call (its hang-up, say) come to any transceiver of the cluster: it is passed on to the one that holds the call, over TCP at the number of its UDP port.',
  },
)

/** `control` with its defaults filled in. */
export type ControlOptions = Static<typeof ControlOptions>

/** What the schema cannot say. Pointers are relative to `control`. */
export function checkControl({ allow }: ControlOptions): Problem[] {
  return checkAllow(allow)
}
