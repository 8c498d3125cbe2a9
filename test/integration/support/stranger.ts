/** Somebody on the network: a socket that sends what a test likes, keeps what it gets, and knows how to write checks. */

import { randomBytes } from 'node:crypto'
import { Address, IntegrityKey, STUN_ROOM, TRANSACTION_ID, type UdpPort } from '../../../core/index.ts'
import { dgramEngine } from '../../../core/udp/dgram-engine.ts'
import { type Check, type Credentials, writeCheck } from '../../peers/checks.ts'

/** The highest PRIORITY there is (RFC 8445 §5.1.2). */
export const HIGHEST = 0x7fffffff

/** One session's credentials, as both sides of its signaling know them. */
export interface Known {
  /** The client's. */
  readonly local: Credentials
  /** The edge's. */
  readonly remote: Credentials
}

/** A fresh check as a client of this session would send it, with USE-CANDIDATE and the highest PRIORITY unless told. */
export function checkOf({ local, remote }: Known, fields: Partial<Check> & { id?: Buffer } = {}): Buffer {
  const { id = randomBytes(TRANSACTION_ID), ...rest } = fields
  const check: Check = {
    username: `${remote.ufrag}:${local.ufrag}`,
    priority: HIGHEST,
    useCandidate: true,
    tieBreaker: randomBytes(8),
    ...rest,
  }
  const out = Buffer.alloc(STUN_ROOM)
  return out.subarray(0, writeCheck(out, id, check, new IntegrityKey(remote.pwd)))
}

/** An open one; close it. */
export class Stranger implements AsyncDisposable {
  /** What it got, unless it was opened not to keep it. */
  readonly received: Buffer[] = []
  bytesSent = 0
  bytesReceived = 0
  readonly #to: Address
  #port: UdpPort | undefined

  private constructor(to: Address) {
    this.#to = to
  }

  /** Opens a socket on 127.0.0.1 that sends to `to`. With `keep` false what comes is counted only. */
  static async open(to: Address, keep = true): Promise<Stranger> {
    const stranger = new Stranger(to.clone())
    stranger.#port = await dgramEngine.open({
      address: new Address().set(0, 0, 0xffff, 0x7f000001, 0),
      onDatagram: ({ bytes, start, end }) => {
        stranger.bytesReceived += end - start
        if (keep) stranger.received.push(Buffer.from(bytes.subarray(start, end)))
      },
    })
    return stranger
  }

  get local(): Address {
    return this.#port!.local
  }

  send(datagram: Uint8Array, to: Address = this.#to): void {
    this.bytesSent += datagram.length
    this.#port?.send(datagram, 0, datagram.length, to)
  }

  async close(): Promise<void> {
    await this.#port?.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
