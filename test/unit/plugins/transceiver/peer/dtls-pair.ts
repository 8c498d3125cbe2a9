/** Two DTLS endpoints joined in memory, with a hand on every datagram between them; for the DTLS tests. */

import { DtlsContext, type DtlsContextOptions } from '../../../../../core/index.ts'
import { createCertificate } from '../../../../../plugins/transceiver/peer/certificate.ts'
import {
  DtlsEndpoint,
  type Fingerprint,
  type SrtpKeys,
} from '../../../../../plugins/transceiver/peer/dtls.ts'

export interface Identity {
  context: DtlsContext
  fingerprints: Fingerprint[]
}

/** A context with a certificate of its own, unless `withCertificate` is false. */
export function identity(options: DtlsContextOptions = {}, withCertificate = true): Identity {
  const certificate = createCertificate(Date.now())
  return {
    context: new DtlsContext(withCertificate ? { ...options, identity: certificate } : options),
    fingerprints: [{ algorithm: 'sha-256', value: certificate.fingerprint }],
  }
}

export const ours = identity()
export const theirs = identity()
export const wrongFingerprint: Fingerprint[] = [{ algorithm: 'sha-256', value: `00${':00'.repeat(31)}` }]

/** An endpoint and everything that it said. */
export interface Side {
  endpoint: DtlsEndpoint
  sent: Buffer[]
  keys: SrtpKeys[]
  messages: string[]
  /** "close_notify", "failed: …" */
  ends: string[]
  /** What each `receive` answered. */
  fresh: boolean[]
}

export interface PairOptions {
  server?: Identity
  client?: Identity
  serverExpects?: Fingerprint[]
  clientExpects?: Fingerprint[]
  /** Who gives up OpenSSL after the handshake; without it both. */
  handsOver?: 'server' | 'client'
  /** Edits or drops (undefined) what is on its way; `up` is towards the server. */
  onWire?(datagram: Buffer, up: boolean): Buffer | undefined
  onMessage?(message: Buffer, side: 'server' | 'client'): void
  onConnected?(side: 'server' | 'client'): void
  onClosed?(side: 'server' | 'client'): void
}

export class Pair {
  readonly server: Side
  readonly client: Side
  readonly wire: { datagram: Buffer; up: boolean }[] = []
  now = 1000
  readonly #options: PairOptions

  constructor(options: PairOptions = {}) {
    this.#options = options
    const server = options.server ?? ours
    const client = options.client ?? theirs
    this.server = this.#side('server', server, options.serverExpects ?? client.fingerprints)
    this.client = this.#side('client', client, options.clientExpects ?? server.fingerprints)
  }

  /** Starts both and delivers until nothing is on its way. */
  connect(): this {
    this.start()
    this.deliver()
    return this
  }

  start(): void {
    this.server.endpoint.start(this.now)
    this.client.endpoint.start(this.now)
  }

  /** Delivers what is on its way, and what that causes, up to `limit` datagrams. */
  deliver(limit = Infinity): void {
    for (let i = 0; i < limit; i++) {
      const next = this.wire.shift()
      if (!next) return
      const datagram = this.#options.onWire ? this.#options.onWire(next.datagram, next.up) : next.datagram
      if (datagram) this.hand(next.up ? this.server : this.client, datagram)
    }
  }

  /** Gives a datagram to a side, from the middle of a larger buffer as a socket would. */
  hand(side: Side, datagram: Uint8Array): boolean {
    const bytes = Buffer.alloc(datagram.length + 96, 0x17)
    bytes.set(datagram, 64)
    const fresh = side.endpoint.receive(bytes, 64, 64 + datagram.length, this.now)
    side.fresh.push(fresh)
    return fresh
  }

  say(from: 'server' | 'client', text: string): boolean {
    const sent = this[from].endpoint.write(Buffer.from(text))
    this.deliver()
    return sent
  }

  close(): void {
    this.server.endpoint.close()
    this.client.endpoint.close()
  }

  #side(role: 'server' | 'client', own: Identity, fingerprints: Fingerprint[]): Side {
    const options = this.#options
    const side: Omit<Side, 'endpoint'> = { sent: [], keys: [], messages: [], ends: [], fresh: [] }
    const endpoint = new DtlsEndpoint({
      role,
      fingerprints,
      context: own.context,
      handsOver: (options.handsOver ?? role) === role,
      send: (datagram) => {
        const copy = Buffer.from(datagram)
        side.sent.push(copy)
        this.wire.push({ datagram: copy, up: role === 'client' })
      },
      onConnected: (keys) => {
        side.keys.push(keys)
        options.onConnected?.(role)
      },
      onMessage: (message) => {
        side.messages.push(message.toString())
        options.onMessage?.(message, role)
      },
      onClosed: (reason, failed) => {
        side.ends.push(failed ? `failed: ${reason}` : reason)
        options.onClosed?.(role)
      },
    })
    return { ...side, endpoint }
  }
}

/** A DTLS record. */
export function record(type: number, epoch: number, sequence: number, body: Uint8Array): Buffer {
  const header = Buffer.alloc(13)
  header[0] = type
  header.writeUInt16BE(0xfefd, 1)
  header.writeUInt16BE(epoch, 3)
  header.writeUIntBE(sequence, 5, 6)
  header.writeUInt16BE(body.length, 11)
  return Buffer.concat([header, body])
}

/** A whole handshake message. */
export function message(type: number, sequence: number, body: Uint8Array): Buffer {
  const header = Buffer.alloc(12)
  header[0] = type
  header.writeUIntBE(body.length, 1, 3)
  header.writeUInt16BE(sequence, 4)
  header.writeUIntBE(body.length, 9, 3)
  return Buffer.concat([header, body])
}

/** Calls `visit` with each plaintext handshake message of a datagram whose messages are not fragmented. */
export function eachMessage(datagram: Buffer, visit: (type: number, whole: Buffer) => void): void {
  let at = 0
  while (at + 13 <= datagram.length) {
    const end = at + 13 + datagram.readUInt16BE(at + 11)
    if (datagram[at] === 22 && datagram.readUInt16BE(at + 3) === 0) {
      for (let m = at + 13; m + 12 <= end; m += 12 + datagram.readUIntBE(m + 9, 3)) {
        visit(datagram[m]!, Buffer.from(datagram.subarray(m, m + 12 + datagram.readUIntBE(m + 9, 3))))
      }
    }
    at = end
  }
}

/** The records of datagrams, header and all. */
export function recordsOf(datagrams: readonly Buffer[]): Buffer[] {
  const records: Buffer[] = []
  for (const datagram of datagrams) {
    for (let at = 0; at + 13 <= datagram.length; ) {
      const end = at + 13 + datagram.readUInt16BE(at + 11)
      records.push(datagram.subarray(at, end))
      at = end
    }
  }
  return records
}

/** Whether a datagram holds encrypted records. */
export function hasEncrypted(datagram: Buffer): boolean {
  for (let at = 0; at + 13 <= datagram.length; at += 13 + datagram.readUInt16BE(at + 11)) {
    if (datagram.readUInt16BE(at + 3) > 0) return true
  }
  return false
}
