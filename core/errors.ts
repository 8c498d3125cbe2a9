/**
 * Every error Earshot raises on purpose, and the one table of their codes.
 *
 * A code is never reused for another meaning. `status` is the HTTP status it becomes where a request is
 * the cause, `source` says whose side the fault is on, `retryable` whether the same thing may work later.
 */

/** Whose side a fault is on. */
export type ErrorSource = 'operator' | 'client' | 'backend' | 'peer' | 'internal'

interface CodeEntry {
  readonly source: ErrorSource
  readonly retryable: boolean
  readonly status: number
}

const entry = (source: ErrorSource, status: number, retryable = false): CodeEntry => ({
  source,
  status,
  retryable,
})

/** The closed table of error codes. */
export const ERROR_CODES = Object.freeze({
  // start and configuration
  config_invalid: entry('operator', 500),
  plugin_failed: entry('operator', 500),
  address_in_use: entry('operator', 500, true),
  address_unavailable: entry('operator', 500),
  openssl_unavailable: entry('operator', 500),
  // requests
  bad_request: entry('client', 400),
  invalid_sdp: entry('client', 400),
  unauthorized: entry('client', 401),
  forbidden: entry('client', 403),
  not_found: entry('client', 404),
  call_not_found: entry('client', 404),
  method_not_allowed: entry('client', 405),
  request_timeout: entry('client', 408, true),
  payload_too_large: entry('client', 413),
  precondition_failed: entry('client', 412),
  unsupported_media_type: entry('client', 415),
  no_audio: entry('client', 422),
  unsupported_offer: entry('client', 422),
  precondition_required: entry('client', 428),
  rate_limited: entry('client', 429, true),
  key_limit_reached: entry('client', 429, true),
  not_implemented: entry('client', 501),
  // capacity and life
  too_many_calls: entry('internal', 503, true),
  draining: entry('internal', 503, true),
  owner_unreachable: entry('internal', 503, true),
  internal: entry('internal', 500, true),
  // the peer and the backend of one call
  dtls_failed: entry('peer', 502),
  peer_gone: entry('peer', 502),
  connect_timeout: entry('peer', 504, true),
  bridge_failed: entry('backend', 502, true),
  bridge_timeout: entry('backend', 504, true),
} satisfies Record<string, CodeEntry>)

/** A code of the table. */
export type ErrorCode = keyof typeof ERROR_CODES

/** An error with a code of the table; `param` names the field at fault where there is one. */
export class EdgeError extends Error {
  override readonly name = 'EdgeError'
  readonly code: ErrorCode
  readonly source: ErrorSource
  readonly retryable: boolean
  readonly status: number
  readonly param: string | null

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; param?: string } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    const { source, retryable, status } = ERROR_CODES[code]
    this.code = code
    this.source = source
    this.retryable = retryable
    this.status = status
    this.param = options.param ?? null
  }
}
