/** Two `DataChannels` on a link in memory, as bad as a test wants it, from a seed. */

import {
  DataChannels,
  type DataChannelsOptions,
} from '../../../../../plugins/transceiver/peer/data-channels.ts'

/** Faults of the link, as fractions of the packets. */
export interface LinkFaults {
  readonly seed?: number
  readonly loss?: number
  readonly duplicate?: number
  readonly reorder?: number
}

/** One end and all it was told. */
export interface End {
  readonly channels: DataChannels
  readonly opened: string[]
  readonly messages: (string | Uint8Array)[]
  readonly faults: string[]
  /** Largest packet sent, in bytes. */
  largest: number
  sent: number
  closes: number
}

/** The pair; `client` has the DTLS client's role. */
export interface Pair {
  readonly client: End
  readonly server: End
  /** Packets pass through it when set; undefined drops one. */
  tap: ((packet: Buffer, to: 'client' | 'server') => Buffer | undefined) | undefined
  close(): void
}

/** A small seeded generator of numbers in [0, 1) (mulberry32). */
export function seeded(seed: number): () => number {
  let a = seed
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Makes a pair and starts its association. */
export function makePair(
  options: { client?: Partial<DataChannelsOptions>; server?: Partial<DataChannelsOptions> } = {},
  faults: LinkFaults = {},
): Pair {
  const random = seeded(faults.seed ?? 1)
  const ends = new Map<string, End>()
  const pair: { tap: Pair['tap'] } = { tap: undefined }
  const carry = (to: 'client' | 'server', packet: Buffer): void => {
    const out = pair.tap ? pair.tap(packet, to) : packet
    if (!out || random() < (faults.loss ?? 0)) return
    const copies = random() < (faults.duplicate ?? 0) ? 2 : 1
    for (let i = 0; i < copies; i++) {
      const arrive = (): void => ends.get(to)?.channels.receive(out)
      if (random() < (faults.reorder ?? 0)) setTimeout(arrive, 1 + random() * 5)
      else setImmediate(arrive)
    }
  }
  const client = makeEnd('client', options.client, (packet) => carry('server', packet))
  const server = makeEnd('server', options.server, (packet) => carry('client', packet))
  ends.set('client', client).set('server', server)
  const close = (): void => {
    client.channels.close()
    server.channels.close()
  }
  return Object.assign(pair, { client, server, close })
}

function makeEnd(
  role: 'client' | 'server',
  options: Partial<DataChannelsOptions> | undefined,
  send: (packet: Buffer) => void,
): End {
  const opened: string[] = []
  const messages: (string | Uint8Array)[] = []
  const faults: string[] = []
  const counts = { largest: 0, sent: 0, closes: 0 }
  const channels = new DataChannels({
    role,
    remotePort: 5000,
    maxMessageSize: 262_144,
    send: (packet) => {
      counts.largest = Math.max(counts.largest, packet.length)
      counts.sent++
      send(Buffer.from(packet))
    },
    onOpen: (label) => opened.push(label),
    onMessage: (_label, data) => messages.push(data),
    onClose: () => counts.closes++,
    onFault: (reason) => faults.push(reason),
    ...options,
  })
  return Object.assign(counts, { channels, opened, messages, faults })
}

/** Resolves when `condition` holds; fails after 20 s. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never: ${what}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
