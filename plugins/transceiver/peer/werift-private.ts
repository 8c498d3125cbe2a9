/**
 * The one file that touches werift's private parts, and of werift only its SCTP: loaded by path, since the package exports
 * it only together with all of its WebRTC. werift is pinned to the version this was written against.
 *
 * The types name what we call and what we replace. `loadWeriftSctp` fails loudly when one of them is missing.
 */

import { createRequire } from 'node:module'
import { EdgeError } from '../../../core/index.ts'

/** A parsed chunk; which fields it has follows from `type`. */
export interface WeriftChunk {
  readonly type: number
  /** Header and padding included. */
  readonly bytes: Buffer
}

/** DATA (RFC 9260 §3.3.1). */
export interface WeriftDataChunk extends WeriftChunk {
  readonly flags: number
  readonly tsn: number
  readonly streamId: number
  readonly streamSeqNum: number
  readonly protocol: number
  readonly userData: Buffer
}

/** INIT and INIT ACK (§3.3.2, §3.3.3). */
export interface WeriftInitChunk extends WeriftChunk {
  readonly initialTsn: number
}

/** Whether a chunk is an INIT or INIT ACK. */
export function isInit(chunk: WeriftChunk): chunk is WeriftInitChunk {
  return 'initialTsn' in chunk
}

/** FORWARD TSN (RFC 3758 §3.2). */
export interface WeriftForwardTsnChunk extends WeriftChunk {
  readonly cumulativeTsn: number
  readonly streams: readonly [number, number][]
}

/** SACK (§3.3.4). */
export interface WeriftSackChunk extends WeriftChunk {
  cumulativeTsn: number
  advertisedRwnd: number
  gaps: [number, number][]
  duplicates: number[]
}

/** A re-configuration parameter (RFC 6525 §4). */
export interface WeriftReconfigParam {
  readonly type: number
  readonly requestSequence: number
  readonly lastTsn: number
  streams: number[]
}

/** An association, werift's `SCTP`. Methods are own properties once replaced. */
export interface WeriftSctp {
  isServer: boolean
  associationState: number
  /** Seconds. */
  rto: number
  readonly stateChanged: Readonly<Record<'connected' | 'closed', { subscribe(run: () => void): unknown }>>
  readonly onReconfigStreams: { subscribe(run: (streamIds: number[]) => void): unknown }
  start(remotePort: number): Promise<void>
  send(streamId: number, protocol: number, data: Buffer, options?: { ordered: boolean }): Promise<void>
  abort(): Promise<void>
  setState(state: number): void
  // private from here on
  readonly lastSackedTsn: number
  readonly isStopped: boolean
  readonly remoteVerificationTag: number
  /** Seconds, both. */
  readonly srtt: number
  readonly rttvar: number
  readonly outboundQueue: readonly WeriftDataChunk[]
  readonly sentQueue: readonly WeriftDataChunk[]
  peerAdvertisedRwnd: number
  sackNeeded: boolean
  sackImmediate: boolean
  reconfigQueue: number[]
  readonly reconfigRequest: WeriftReconfigParam | undefined
  readonly reconfigResponseSeq: number
  timer1Chunk: WeriftChunk | undefined
  timer3Handle: unknown
  timerReconfigHandle: unknown
  handleData(packet: Buffer): Promise<void>
  receiveChunk(chunk: WeriftChunk): Promise<void>
  receiveDataChunk(chunk: WeriftDataChunk): void
  receiveForwardTsnChunk(chunk: WeriftForwardTsnChunk): void
  receiveSackChunk(chunk: WeriftSackChunk): Promise<void>
  receiveReconfigParam(param: WeriftReconfigParam): Promise<void>
  sendChunk(chunk: WeriftChunk): Promise<void>
  sendReconfigParam(param: unknown): Promise<void>
  sendSack(): Promise<void>
  transmit(): Promise<void>
  transmitReconfigRequest(): Promise<void>
  timer1Start(chunk: WeriftChunk): void
  timer1Cancel(): void
  timer3Start(): void
  timer3Restart(): void
  timer3Cancel(): void
  timer3Expired(): void
  timerReconfigHandleStart(): void
  timerReconfigCancel(): void
  updateRto(seconds: number): void
  heartbeatStart(): void
}

/** What werift's `SCTP` sends through. */
export interface WeriftTransport {
  onData?: (packet: Buffer) => void
  send(packet: Buffer): Promise<void>
  close(): void
}

/** The classes taken from werift. */
export interface WeriftSctpModule {
  readonly SCTP: new (transport: WeriftTransport, port: number, options: { mtu: number }) => WeriftSctp
  readonly SackChunk: new (flags: number, body: undefined) => WeriftSackChunk
  readonly ShutdownAckChunk: new (flags: number, body: undefined) => WeriftChunk
  readonly ReconfigResponseParam: new (sequence: number, result: number) => unknown
}

/** werift's association states that matter to us. */
export const STATE = Object.freeze({ closed: 1, cookieWait: 2, cookieEchoed: 3, established: 4 })

const METHODS = [
  ...['start', 'send', 'abort', 'setState', 'handleData', 'receiveChunk', 'receiveDataChunk', 'sendChunk'],
  ...['receiveForwardTsnChunk', 'receiveSackChunk', 'receiveReconfigParam', 'sendReconfigParam', 'sendSack'],
  ...['transmit', 'transmitReconfigRequest', 'timer1Start', 'timer1Cancel', 'timer3Start', 'timer3Restart'],
  ...[
    'timer3Cancel',
    'timer3Expired',
    'timerReconfigHandleStart',
    'timerReconfigCancel',
    'heartbeatStart',
    'updateRto',
  ],
]

let loaded: WeriftSctpModule | undefined

/** Loads werift's SCTP, once; throws `plugin_failed` when it is not the werift we know. */
export function loadWeriftSctp(): WeriftSctpModule {
  loaded ??= load()
  return loaded
}

function load(): WeriftSctpModule {
  const require = createRequire(import.meta.url)
  const main = require.resolve('werift')
  const folder = main.replace(/webrtc[\\/]src[\\/]index\.js$/, 'sctp/src/')
  let module: WeriftSctpModule
  try {
    module = {
      ...require(`${folder}sctp.js`),
      ...require(`${folder}chunk.js`),
      ...require(`${folder}param.js`),
    }
  } catch (cause) {
    throw new EdgeError('plugin_failed', `werift at ${main} has no SCTP where 0.25.2 has it.`, { cause })
  }
  const sample = new module.SCTP({ send: async () => {}, close() {} }, 5000, { mtu: 1200 })
  const missing = METHODS.filter((name) => typeof Reflect.get(sample, name) !== 'function')
  if (missing.length > 0) {
    throw new EdgeError('plugin_failed', `werift is not 0.25.2: its SCTP lacks ${missing.join(', ')}.`)
  }
  return module
}
