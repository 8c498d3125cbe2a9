/** What an operator can set on the websocket bridge. */

import { type Static, Type, webSocketProblems } from '../../../core/index.ts'

/** The schema of the options. */
export const Options = Type.Object(
  {
    url: Type.String({
      pattern: '^wss?://',
      description: "The backend's WebSocket, ws:// or wss://; one connection is made per call.",
    }),
    rate: Type.Union([Type.Literal(8000), Type.Literal(16000), Type.Literal(24000), Type.Literal(48000)], {
      default: 24000,
      description: 'Samples a second of the PCM16 that goes both ways.',
    }),
    headers: Type.Record(Type.String(), Type.String({ writeOnly: true }), {
      default: {},
      description:
        'HTTP headers of the handshake, such as authorization. Take the secret from the environment by a placeholder.',
    }),
    connectTimeoutMs: Type.Integer({
      default: 5000,
      minimum: 1,
      maximum: 60_000,
      description: 'How long connecting may take until the call ends with bridge_timeout.',
    }),
    maxMessageBytes: Type.Integer({
      default: 1_048_576,
      minimum: 1024,
      maximum: 16_777_216,
      description: 'A longer message from the backend ends the call with bridge_failed.',
    }),
    readAheadMs: Type.Integer({
      default: 30_000,
      minimum: 0,
      maximum: 600_000,
      description:
        'How much audio the backend may send ahead. What is more waits in its socket, and audio.clear behind it.',
    }),
  },
  { additionalProperties: false },
)

/** The options with their defaults filled in. */
export type WebSocketOptions = Static<typeof Options>

/** What the schema cannot say of them. */
export const check = webSocketProblems
