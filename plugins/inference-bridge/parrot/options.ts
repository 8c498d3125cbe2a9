/** The parrot's options, as its operator writes them. */

import { type Static, Type } from '../../../core/index.ts'

/** The schema. */
export const Options = Type.Object(
  {
    pauseMs: Type.Integer({
      minimum: 100,
      maximum: 5000,
      default: 600,
      description: 'A silence of so many milliseconds ends your turn.',
    }),
    strictness: Type.Integer({
      minimum: 0,
      maximum: 3,
      default: 2,
      description: 'How sure the detector must be that it hears a voice: 0 takes most for one, 3 least.',
    }),
  },
  { additionalProperties: false },
)

/** With defaults filled in. */
export type ParrotOptions = Static<typeof Options>
