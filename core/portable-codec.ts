/** Makes a routing codec in a thread that did not make the first one: see `PortableCodec`. */

import { isObject } from './config/pointer.ts'
import type { RoutingCodec } from './contracts/routing-codec.ts'
import { EdgeError } from './errors.ts'
import { resolveSelf } from './self-resolve.ts'

/** Imports what makes codecs of a kind from their `data`. Rejects with EdgeError `plugin_failed`, naming the module. */
export async function portableCodecs(module: string): Promise<(data: unknown) => RoutingCodec> {
  // Each thread resolves for itself: a codec from an operator's folder imports 'earshot'.
  resolveSelf()
  const found: unknown = await import(module)
  const make = isObject(found) ? found.fromPortable : undefined
  if (typeof make !== 'function') {
    throw new EdgeError(
      'plugin_failed',
      `${module} says that it makes a routing codec, and exports no "fromPortable"`,
    )
  }
  return (data) => {
    const codec: unknown = make(data)
    if (!isCodec(codec))
      throw new EdgeError('plugin_failed', `"fromPortable" of ${module} made no routing codec`)
    return codec
  }
}

function isCodec(value: unknown): value is RoutingCodec {
  return isObject(value) && typeof value.decode === 'function' && typeof value.encode === 'function'
}
