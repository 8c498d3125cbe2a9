/** How an operator writes the framing between relays and transceivers: the same at both ends. */

import { Type } from './lazy-typebox.ts'
import type { Problem } from './plugin.ts'

/** One key of `spp-mac`. */
export interface FrameKey {
  /** 0 to 255. */
  readonly id: number
  /** 64 hex digits. */
  readonly key: string
}

/** `spp-mac` in the options, as it was checked. */
export interface MacOption {
  readonly mac: { readonly keys: readonly FrameKey[] }
}

/** The schema of `MacOption`; made when it is asked for, since threads that forward need none. */
export function macOption() {
  const key = Type.Object(
    {
      id: Type.Integer({ minimum: 0, maximum: 255, description: 'Tells keys apart; sent in clear.' }),
      key: Type.String({
        pattern: '^[0-9a-fA-F]{64}$',
        writeOnly: true,
        description: '256 bits as 64 hex digits; `openssl rand -hex 32` makes one.',
      }),
    },
    { additionalProperties: false },
  )
  const keys = Type.Array(key, {
    minItems: 1,
    maxItems: 16,
    description: 'All of them verify, the first signs.',
  })
  const mac = Type.Object({ keys }, { additionalProperties: false })
  return Type.Object({ mac }, { additionalProperties: false })
}

/** Its keys; undefined for any other framing. */
export function keysOf(option: string | MacOption): readonly FrameKey[] | undefined {
  return typeof option === 'string' ? undefined : option.mac.keys
}

/** What the schema cannot say: every key has an id of its own. */
export function checkFraming(option: string | MacOption): Problem[] {
  const keys = keysOf(option) ?? []
  return keys.flatMap(({ id }, i): Problem[] => {
    const first = keys.findIndex((key) => key.id === id)
    if (first === i) return []
    return [
      {
        pointer: `/framing/mac/keys/${i}/id`,
        message: `key id ${id} is used twice, here and by key ${first}`,
        hint: 'give every key an id of its own: a frame carries only the id',
      },
    ]
  })
}
