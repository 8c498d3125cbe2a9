/** What an operator can set on the openai-realtime bridge. */

import { type Problem, type Static, Type, webSocketProblems } from '../../../core/index.ts'

const Capabilities = Type.Object(
  {
    dialect: Type.Optional(
      Type.Union([Type.Literal('ga'), Type.Literal('beta')], {
        description: 'The names of events and session fields: GA, or the beta before it.',
      }),
    ),
    formats: Type.Optional(
      Type.Boolean({ description: 'session.update may carry audio formats in the shape of Realtime.' }),
    ),
    truncate: Type.Optional(Type.Boolean({ description: 'conversation.item.truncate has an effect.' })),
    cancel: Type.Optional(Type.Boolean({ description: 'response.cancel has an effect.' })),
    retrieve: Type.Optional(
      Type.Boolean({
        description:
          'conversation.item.retrieve is answered. Otherwise the bridge answers from what it has seen.',
      }),
    ),
    tracing: Type.Optional(
      Type.Boolean({ description: 'session.update may carry tracing. Otherwise it is left out.' }),
    ),
    keyHeader: Type.Optional(
      Type.Union([Type.Literal('authorization'), Type.Literal('api-key')], {
        description: 'The header of apiKey; as a bearer token in the first.',
      }),
    ),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'What the backend can do, where it differs from what is known of it by name.',
  },
)

/** The schema of the options. */
export const Options = Type.Object(
  {
    url: Type.String({
      pattern: '^wss?://',
      description: "The backend's Realtime WebSocket, ws:// or wss://; one connection is made per call.",
    }),
    backend: Type.Union(
      [
        Type.Literal('openai'),
        Type.Literal('azure'),
        Type.Literal('hf-speech-to-speech'),
        Type.Literal('localai'),
        Type.Literal('speaches'),
        Type.Literal('vllm-omni'),
        Type.Literal('xai'),
      ],
      { default: 'openai', description: 'Which of the family it is: what it can do follows from that.' },
    ),
    capabilities: Capabilities,
    apiKey: Type.Optional(
      Type.String({
        minLength: 1,
        writeOnly: true,
        description: 'The key for the backend. Take it from the environment by a placeholder.',
      }),
    ),
    model: Type.Optional(
      Type.String({ minLength: 1, description: 'The model asked for, as ?model= of the url.' }),
    ),
    clientModel: Type.Boolean({
      default: false,
      description: 'Whether a client may choose another model, which the operator pays for.',
    }),
    session: Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      description: 'A session config by its GA names. What a client asks for goes before it.',
    }),
    rate: Type.Union([Type.Literal(8000), Type.Literal(16000), Type.Literal(24000), Type.Literal(48000)], {
      default: 24000,
      description: 'Samples a second of the PCM16 both ways. OpenAI has 24000 only.',
    }),
    headers: Type.Record(Type.String(), Type.String({ writeOnly: true }), {
      default: {},
      description: 'More HTTP headers of the handshake.',
    }),
    connectTimeoutMs: Type.Integer({
      default: 5000,
      minimum: 1,
      maximum: 60_000,
      description:
        'How long connecting may take, and then session.created, until the call ends with bridge_timeout.',
    }),
    idleTimeoutMs: Type.Integer({
      default: 30_000,
      minimum: 20,
      maximum: 600_000,
      description: 'A backend that for so long sends nothing, not even a pong, is lost.',
    }),
    maxMessageBytes: Type.Integer({
      default: 16_777_216,
      minimum: 1024,
      maximum: 67_108_864,
      description: 'A longer message from the backend ends the call with bridge_failed.',
    }),
    maxQueuedMs: Type.Integer({
      default: 600_000,
      minimum: 1000,
      maximum: 3_600_000,
      description:
        'How much unplayed audio is kept of a backend that is ahead. With more the connection is not read for a while, interruptions included.',
    }),
  },
  { additionalProperties: false },
)

/** The options with their defaults filled in. */
export type RealtimeOptions = Static<typeof Options>

/** What the schema cannot say of them. */
export function check(options: RealtimeOptions): Problem[] {
  const problems = webSocketProblems(options)
  if (needsModel(options) && URL.parse(options.url)?.searchParams.has('model') === false)
    problems.push({
      pointer: '/model',
      message: `is missing, and ${options.backend} needs to be asked for one`,
      hint: 'name a model, or set clientModel so that clients do',
    })
  return problems
}

function needsModel({ backend, model, clientModel }: RealtimeOptions): boolean {
  return (backend === 'openai' || backend === 'azure') && model === undefined && !clientModel
}
