/** How the bridge's audio is encoded, as the operator writes it. */

import { Type } from '../../../core/index.ts'

/** The transceiver's option `opus`. */
export const OpusOption = Type.Object(
  {
    bitrate: Type.Integer({
      minimum: 6000,
      maximum: 128000,
      default: 32000,
      description: 'Bits a second. 32000 is clean speech at 24 kHz; 16000 is enough for 8 kHz.',
    }),
    complexity: Type.Integer({
      minimum: 0,
      maximum: 10,
      default: 5,
      description: 'How hard the encoder tries. 10 costs half as much CPU again as 5.',
    }),
    dtx: Type.Boolean({
      default: true,
      description: 'Sends nothing while the bridge plays what is quieter than −60 dBFS for 200 ms.',
    }),
    fec: Type.Boolean({
      default: true,
      description: 'Packets also carry the one before, as far as the client reports loss.',
    }),
  },
  { default: {}, description: 'How audio of bridges that play samples is encoded.' },
)
