/** What the compiler must refuse in a plugin: each line under `@ts-expect-error` is a mistake. Never run; `tsc` checks. */

import { definePlugin, RecoveryStore, RoutingCodec, service, Type } from '../../core/index.ts'

const options = Type.Object({ port: Type.Integer({ default: 1 }) })
const codec: RoutingCodec = { encode: () => 'x', decode: () => undefined }

export const fine = definePlugin({
  name: 'fine',
  api: 1,
  options,
  requires: { inner: RoutingCodec },
  optional: { store: RecoveryStore },
  provides: { outer: RoutingCodec },
  check: ({ port }) => (port.toFixed() === '0' ? [{ pointer: '/port', message: 'no' }] : []),
  async setup({ port }, { inner, store }, { id, log }) {
    store?.forget
    log.info({ id, port: port.toFixed() })
    return { outer: inner }
  },
})

export const givesNothing = definePlugin({
  name: 'gives-nothing',
  api: 1,
  options,
  provides: { codec: RoutingCodec },
  // @ts-expect-error it does not return what it provides
  setup: () => ({}),
})

export const givesAnother = definePlugin({
  name: 'gives-another',
  api: 1,
  options,
  provides: { codec: RoutingCodec },
  // @ts-expect-error what it returns is no routing codec
  setup: () => ({ codec: { encode: () => 1, decode: () => undefined } }),
})

export const unasked = definePlugin({
  name: 'unasked',
  api: 1,
  options,
  // @ts-expect-error it did not ask for this service
  setup: (_options, { codec }) => ({ codec }),
})

export const unguarded = definePlugin({
  name: 'unguarded',
  api: 1,
  options,
  optional: { store: RecoveryStore },
  setup(_options, { store }) {
    // @ts-expect-error an optional service may be absent
    store.forget
    return {}
  },
})

export const mistyped = definePlugin({
  name: 'mistyped',
  api: 1,
  options,
  setup(given) {
    // @ts-expect-error there is no such option
    given.prot
    // @ts-expect-error a number is no string
    const text: string = given.port
    return { text }
  },
})

export const future = definePlugin({
  name: 'future',
  // @ts-expect-error there is no such version of the contract
  api: 2,
  options,
  setup: () => ({}),
})

export const openOptions = definePlugin({
  name: 'open-options',
  api: 1,
  // @ts-expect-error options are a Type.Object
  options: Type.String(),
  setup: () => ({}),
})

/** Two keys of one name but of different services are different. */
export const Numbers = service<number>('numbers')

export const confused = definePlugin({
  name: 'confused',
  api: 1,
  options,
  provides: { numbers: Numbers },
  // @ts-expect-error a codec is no number
  setup: () => ({ numbers: codec }),
})
