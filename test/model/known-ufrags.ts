/** A codec that knows the ufrags it was told; any other text is nobody's. */

import type { Route, RoutingCodec } from '../../core/index.ts'

/** The codec of every relay of the fleet. */
export class KnownUfrags implements RoutingCodec {
  readonly #routes = new Map<string, Route>()

  know(ufrag: string, route: Route): void {
    this.#routes.set(ufrag, route)
  }

  encode(): string {
    throw new Error('the model makes its own ufrags')
  }

  decode(text: Uint8Array, start: number, end: number): Route | undefined {
    return this.#routes.get(Buffer.from(text.subarray(start, end)).toString('latin1'))
  }
}
