/** The schema of a routing key; apart from the keys themselves, since threads that decode need none. */

import { Type } from '../../../core/index.ts'

/** One key: its id goes in clear in front of every text it makes. */
export const KeyOption = Type.Object(
  {
    id: Type.Integer({ minimum: 0, maximum: 255, description: 'Tells keys apart; sent in clear.' }),
    key: Type.String({
      pattern: '^[0-9a-fA-F]{32}$',
      writeOnly: true,
      description: '128 bits as 32 hex digits; `openssl rand -hex 16` makes one.',
    }),
  },
  { additionalProperties: false },
)
