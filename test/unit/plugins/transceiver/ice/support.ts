/** A full ICE client and its surroundings, written apart from the code under test, for the tests of the agent. */

import { createHmac, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type Address, parseAddress } from '../../../../../core/index.ts'
import type { IceOutcome } from '../../../../../plugins/transceiver/ice/agent.ts'
import { IceAgent } from '../../../../../plugins/transceiver/ice/agent.ts'
import type { Credentials } from '../../../../../plugins/transceiver/ice/generation.ts'
import { clonePath, type Path } from '../../../../../plugins/transceiver/ice/path.ts'

export const OURS: Credentials = { ufrag: 'ourufrag', pwd: 'our-password-of-22-chars' }
export const THEIRS: Credentials = { ufrag: 'them', pwd: 'their-password-of-24-ch.' }
export const PRIORITY = 0x6e7f00ff

export const address = (text: string): Address => parseAddress(text)!

/** A path by a relay, unless `relay` is ''. */
export function path(client: string, local = '198.51.100.1:3478', relay = '10.0.0.1:5000'): Path {
  return {
    relay: relay === '' ? undefined : address(relay),
    local: address(local),
    client: address(client),
  }
}

export type Attribute = readonly [type: number, value: Buffer]

export interface CheckOptions {
  readonly local?: Credentials
  readonly remote?: Credentials
  readonly id?: Buffer
  readonly priority?: number
  readonly useCandidate?: boolean
  readonly controlled?: boolean
  readonly extra?: readonly Attribute[]
  readonly username?: string
  readonly pwd?: string
}

/** A client's Binding request, as browsers send it. */
export function check(options: CheckOptions = {}): Buffer {
  const { local = THEIRS, remote = OURS, priority = PRIORITY, useCandidate = true } = options
  const number = Buffer.alloc(4)
  number.writeUInt32BE(Math.max(priority, 0))
  return seal(0x0001, options.id ?? randomBytes(12), options.pwd ?? remote.pwd, [
    [0x0006, Buffer.from(options.username ?? `${remote.ufrag}:${local.ufrag}`)],
    [0xc057, Buffer.from([0, 0, 0, 10])],
    [options.controlled ? 0x8029 : 0x802a, Buffer.alloc(8, 7)],
    ...(priority < 0 ? [] : [[0x0024, number] as const]),
    ...(useCandidate ? [[0x0025, Buffer.alloc(0)] as const] : []),
    ...(options.extra ?? []),
  ])
}

/** The success response to one of the agent's own checks. */
export function answer(request: Buffer, pwd = THEIRS.pwd): Buffer {
  return seal(0x0101, request.subarray(8, 20), pwd, [[0x0020, Buffer.from('0001000000000000', 'hex')]])
}

export function seal(type: number, id: Buffer, pwd: string, attributes: readonly Attribute[]): Buffer {
  const head = Buffer.alloc(20)
  head.writeUInt16BE(type, 0)
  head.writeUInt32BE(0x2112a442, 4)
  id.copy(head, 8)
  let body = Buffer.concat(attributes.map(encode))
  head.writeUInt16BE(body.length + 24, 2)
  body = Buffer.concat([body, encode([0x0008, createHmac('sha1', pwd).update(head).update(body).digest()])])
  head.writeUInt16BE(body.length + 8, 2)
  const mark = Buffer.alloc(4)
  mark.writeUInt32BE((crc32(Buffer.concat([head, body])) ^ 0x5354554e) >>> 0)
  return Buffer.concat([head, body, encode([0x8028, mark])])
}

function encode([type, value]: Attribute): Buffer {
  const bytes = Buffer.alloc(4 + ((value.length + 3) & ~3))
  bytes.writeUInt16BE(type, 0)
  bytes.writeUInt16BE(value.length, 2)
  value.copy(bytes, 4)
  return bytes
}

export interface Sent {
  readonly bytes: Buffer
  readonly path: Path
}

/** An agent, all it does, and a clock. */
export class Bench {
  readonly sent: Sent[] = []
  readonly selections: Path[] = []
  readonly events: string[] = []
  readonly agent: IceAgent
  now = 1000

  constructor() {
    this.agent = new IceAgent({
      local: OURS,
      remote: THEIRS,
      random: (length) => randomBytes(length),
      handlers: {
        send: (bytes, start, end, to) => {
          this.sent.push({ bytes: Buffer.from(bytes.subarray(start, end)), path: clonePath(to) })
        },
        onSelected: (to) => {
          this.selections.push(to)
        },
        onOpened: (to) => this.events.push(`opened ${to.client}`),
        onValidated: (to) => this.events.push(`validated ${to.client}`),
        onForgotten: (to) => this.events.push(`forgotten ${to.client}`),
        onRestarted: () => this.events.push('restarted'),
      },
    })
  }

  receive(bytes: Buffer, from: Path): IceOutcome {
    return this.agent.receiveStun(this.now, bytes, 0, bytes.length, from)
  }

  /** Lets time pass, ticking as the owner does. */
  wait(ms: number): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now = Math.min(end, this.now + 25)
      if (this.agent.busy) this.agent.tick(this.now)
    }
  }

  /** The agent's own checks that went to this client. */
  checksTo(client: string): Buffer[] {
    return this.sent
      .filter((sent) => sent.bytes.readUInt16BE(0) === 1 && sent.path.client.equals(address(client)))
      .map((sent) => sent.bytes)
  }

  /** All bytes that went to this client. */
  bytesTo(client: string): number {
    let sum = 0
    for (const sent of this.sent) if (sent.path.client.equals(address(client))) sum += sent.bytes.length
    return sum
  }

  /** A client at an address that checks, and answers the agent's check as browsers do. */
  join(from: Path, options: CheckOptions = {}): void {
    this.receive(check(options), from)
    const last = this.sent.at(-1)!.bytes
    if (last.readUInt16BE(0) === 1) this.receive(answer(last), from)
  }

  get selected(): string | undefined {
    return this.agent.selected?.client.toString()
  }
}
