/** What the root schema cannot say about a config. Pure. */

import { ANONYMOUS } from '../anonymous.ts'
import { type Address, parseAddress } from '../wire/address.ts'
import { parseCidr } from '../wire/cidr.ts'
import { join } from './pointer.ts'
import type { ConfigProblem } from './problem.ts'
import type { RootConfig } from './root-schema.ts'

const PLUGIN_ID = /^[A-Za-z][\w-]{0,63}$/
const ORIGIN = /^(\*|[a-z][a-z0-9+.-]*:\/\/(\[[0-9a-fA-F:]+\]|[^\s/:?#*]+)(:(\d{1,5}|\*))?)$/

/** An address to listen on, from `ip:port` or `localhost:port`; undefined when it is none. */
export function listenAddress(text: string): Address | undefined {
  return parseAddress(text.replace(/^localhost:/, '127.0.0.1:'))
}

/** Every problem of the root sections; `missing` are pointers that could not be filled and are not looked at. */
export function checkRoot(config: RootConfig, missing: ReadonlySet<string>): ConfigProblem[] {
  const problems = [
    ...checkListen(config.http.listen, '/http/listen'),
    ...(config.admin === false ? [] : checkListen(config.admin.listen, '/admin/listen')),
    ...checkPublicBind(config),
    ...checkKeys(config.http.keys),
    ...checkAdvertise(config.node.advertise),
    ...config.http.origins.flatMap(checkOrigin),
    ...config.http.trustProxy.flatMap(checkProxy),
    ...checkOtlp(config.telemetry.otlp),
    ...Object.keys(config.plugins).flatMap(checkId),
  ]
  return problems.filter(({ pointer }) => !missing.has(pointer))
}

function checkListen(listen: string, pointer: string): ConfigProblem[] {
  if (listenAddress(listen)) return []
  return [
    { pointer, message: 'must be ip:port', hint: 'such as "127.0.0.1:8080", "0.0.0.0:8080" or "[::]:8080"' },
  ]
}

function checkPublicBind({ http }: RootConfig): ConfigProblem[] {
  const address = listenAddress(http.listen)
  if (!address || address.isLoopback || Object.keys(http.keys).length > 0) return []
  return [
    {
      pointer: '/http/listen',
      message: `${http.listen} can be reached from other machines, and http.keys has no API key`,
      hint: `add one: "keys": { "me": "\${EARSHOT_KEY}" } with a secret of 16 characters or more; or listen on 127.0.0.1`,
    },
  ]
}

function checkKeys(keys: Readonly<Record<string, string>>): ConfigProblem[] {
  const owners = new Map<string, string>()
  return Object.entries(keys).flatMap(([name, secret]) => {
    const pointer = join('/http/keys', name)
    const other = owners.get(secret)
    owners.set(secret, name)
    if (name === ANONYMOUS) {
      const message = `"${ANONYMOUS}" is who calls where no key is asked for`
      return [{ pointer, message, hint: 'give this key another name' }]
    }
    if (/[^\x21-\x7e]/.test(secret)) {
      return [{ pointer, message: 'a key may hold visible ASCII characters only, no blanks' }]
    }
    if (secret.startsWith('ek_')) {
      return [{ pointer, message: 'begins with "ek_", as client secrets do', hint: 'choose another secret' }]
    }
    if (other === undefined) return []
    return [{ pointer, message: `is the same key as "${other}"`, hint: 'give each name a secret of its own' }]
  })
}

function checkAdvertise(advertise: 'auto' | readonly string[]): ConfigProblem[] {
  if (advertise === 'auto') return []
  return advertise.flatMap((text, i) => {
    const address = parseAddress(text)
    if (address && address.port !== 0 && !address.isUnspecified) return []
    const hint = 'an address that clients can reach, such as "203.0.113.7:3478"'
    return [{ pointer: join('/node/advertise', i), message: 'must be ip:port', hint }]
  })
}

function checkOrigin(origin: string, i: number): ConfigProblem[] {
  if (ORIGIN.test(origin)) return []
  const hint = 'such as "https://app.example", "http://localhost:*" or "*"; no path, no slash at the end'
  return [{ pointer: join('/http/origins', i), message: 'is no web origin', hint }]
}

function checkProxy(text: string, i: number): ConfigProblem[] {
  const pointer = join('/http/trustProxy', i)
  if (!parseCidr(text)) {
    return [
      { pointer, message: 'is no CIDR and no ip', hint: 'such as "10.0.0.0/8", "fd00::/8" or "10.0.0.5"' },
    ]
  }
  if (!/\/0+$/.test(text)) return []
  const hint = 'list where your proxies are: whoever is believed can call from any address'
  return [{ pointer, message: 'is everybody there is', hint }]
}

function checkOtlp(otlp: string | undefined): ConfigProblem[] {
  if (otlp === undefined || /^https?:\/\/[^\s/]+/.test(otlp)) return []
  const hint = 'such as "http://localhost:4318"'
  return [{ pointer: '/telemetry/otlp', message: 'must be an http:// or https:// URL', hint }]
}

function checkId(id: string): ConfigProblem[] {
  if (PLUGIN_ID.test(id)) return []
  const hint = 'letters, digits, "-" and "_", a letter first'
  return [{ pointer: join('/plugins', id), message: 'is no plugin id', hint }]
}
