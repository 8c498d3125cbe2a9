/** What a backend of the Realtime family can do, and what is known of some by name (README.md has the table). Pure. */

/** What the translation asks about a backend. */
export interface Capabilities {
  /** The names of its events and of its session's fields: those of the GA interface, or of the beta before it. */
  readonly dialect: 'ga' | 'beta'
  /** Whether `session.update` may carry Realtime's audio formats. Without it a session goes out as it was given. */
  readonly formats: boolean
  /** `conversation.item.truncate` shortens what the model remembers of an item. */
  readonly truncate: boolean
  /** `response.cancel` stops a response. */
  readonly cancel: boolean
  /** `conversation.item.retrieve` is answered; otherwise the bridge answers from what it has seen. */
  readonly retrieve: boolean
  /** `session.update` may carry `tracing`. */
  readonly tracing: boolean
  /** The key travels in `authorization: Bearer …`, or in `api-key: …`. */
  readonly keyHeader: 'authorization' | 'api-key'
}

const GA: Capabilities = {
  dialect: 'ga',
  formats: true,
  truncate: true,
  cancel: true,
  retrieve: true,
  tracing: true,
  keyHeader: 'authorization',
}

/** GA by its names; of the rest nothing is known, so nothing is asked that the bridge can do by itself. */
const GA_NAMES: Capabilities = { ...GA, retrieve: false, tracing: false }

/** By the names that the option `backend` takes. */
export const BACKENDS = {
  openai: GA,
  azure: { ...GA, keyHeader: 'api-key' },
  'hf-speech-to-speech': { ...GA_NAMES, truncate: false },
  localai: GA_NAMES,
  speaches: { ...GA_NAMES, dialect: 'beta' },
  'vllm-omni': GA_NAMES,
  xai: { ...GA_NAMES, formats: false, truncate: false, cancel: false },
} as const satisfies Record<string, Capabilities>

/** A backend that is known by name. */
export type BackendName = keyof typeof BACKENDS

/** What is known of a backend, with what the operator knows better. */
export function capabilitiesOf(backend: BackendName, known: Partial<Capabilities>): Capabilities {
  return { ...BACKENDS[backend], ...known }
}
