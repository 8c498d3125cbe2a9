/** What the handshake with a backend asks for. */

import type { BridgeCall } from '../../../core/index.ts'
import type { RealtimeOptions } from './options.ts'
import type { Capabilities } from './pure/capabilities.ts'
import { stringAt } from './pure/json.ts'

/** The backend's URL for a call, with the model. */
export function urlFor(options: RealtimeOptions, call: Pick<BridgeCall, 'model' | 'session'>): URL {
  const url = new URL(options.url)
  const wished = call.model ?? stringAt(call.session ?? {}, 'model')
  const model = options.clientModel && wished !== '' ? wished : options.model
  if (model !== undefined) url.searchParams.set('model', model)
  return url
}

/** The headers: the key as this backend takes it, and the operator's own, which go before. */
export function headersFor(options: RealtimeOptions, can: Capabilities): Record<string, string> {
  const { apiKey, headers } = options
  if (apiKey === undefined) return headers
  const value = can.keyHeader === 'api-key' ? apiKey : `Bearer ${apiKey}`
  return { [can.keyHeader]: value, ...headers }
}
