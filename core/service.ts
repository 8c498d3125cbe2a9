/** Typed service keys: what a plugin provides and what another requires meet through one of these. */

declare const held: unique symbol

/** Names a service and carries its type; the value itself is only the name. */
export interface ServiceKey<T> {
  readonly name: string
  readonly [held]?: (value: T) => T
}

/** Makes the key of a service. `name` is what errors and `bind` call it. */
export function service<T>(name: string): ServiceKey<T> {
  return Object.freeze({ name })
}

/** A plugin's local names for the services it uses or gives. `never` accepts every key whatever it holds. */
export interface Keys {
  // biome-ignore lint/suspicious/noExplicitAny: a key is invariant in what it holds; only `any` accepts all
  readonly [local: string]: ServiceKey<any>
}

/** What a key holds. */
export type Held<K> = K extends ServiceKey<infer T> ? T : never

/** The services behind required keys. */
export type Services<K extends Keys> = { readonly [N in keyof K]: Held<K[N]> }

/** The services behind optional keys: each may be absent. */
export type MaybeServices<K extends Keys> = { readonly [N in keyof K]: Held<K[N]> | undefined }
