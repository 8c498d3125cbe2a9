/**
 * Where the relay will listen, from options that nobody has checked yet: the host opens these sockets before anything
 * else, so that what clients send during the start is not lost. It imports nothing that takes long to load.
 */

import { type Address, parseAddress } from '../../core/index.ts'
import { machineAddresses } from './machine-addresses.ts'
import { expandListen } from './pure/listen-addresses.ts'

const DEFAULT_LISTEN = ['0.0.0.0:3478']

/** The public addresses, the framed one where its port is fixed, and that for other relays. What makes no sense is left out. */
export function earlyAddresses(options: unknown): Address[] {
  if (typeof options !== 'object' || options === null) return []
  const listen = 'listen' in options && Array.isArray(options.listen) ? options.listen : DEFAULT_LISTEN
  const binds = listen.flatMap((entry: unknown) => bindOf(entry) ?? [])
  const publics = expandListen(
    binds.map((bind) => ({ bind, advertise: undefined })),
    machineAddresses(),
  )
  const upstream = 'upstream' in options ? bindOf(options.upstream) : undefined
  const internal = 'internal' in options ? listenOf(options.internal) : undefined
  const others = [upstream, internal].filter((address) => address !== undefined)
  return [...publics.map(({ address }) => address), ...others]
}

function listenOf(entry: unknown): Address | undefined {
  return typeof entry === 'object' && entry !== null && 'listen' in entry ? bindOf(entry.listen) : undefined
}

function bindOf(entry: unknown): Address | undefined {
  if (typeof entry === 'string') return parseAddress(entry)
  return typeof entry === 'object' && entry !== null && 'bind' in entry ? bindOf(entry.bind) : undefined
}
