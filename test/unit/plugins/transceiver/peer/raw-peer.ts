/**
 * A peer of a `DataChannels` that can do anything: an association whose messages, streams and packets the test writes
 * itself.
 */

import { Association } from '../../../../../plugins/transceiver/peer/association.ts'
import {
  DataChannels,
  type DataChannelsOptions,
} from '../../../../../plugins/transceiver/peer/data-channels.ts'
import { PPID, writeDcepOpen } from '../../../../../plugins/transceiver/peer/dcep.ts'
import { until } from './channel-pair.ts'
import { packet } from './sctp-packets.ts'

/** The server under test, the peer, and what each was told. */
export interface RawPeer {
  readonly server: DataChannels
  readonly peer: Association
  readonly opened: string[]
  readonly messages: (string | Uint8Array)[]
  readonly faults: string[]
  /** Messages that reached the peer, as `stream:protocol:text`. */
  readonly heard: string[]
  /** Packets that went to the server, and to the peer. */
  readonly up: Buffer[]
  readonly down: Buffer[]
  readonly resets: number[][]
  readonly ended: { server: number; peer: number }
  /** Drops packets to the server while it returns false. */
  passUp: (packet: Buffer) => boolean
  /** Gives the server a packet with these chunks and the right tag. */
  inject(...chunks: readonly Buffer[]): void
  /** Opens a channel by DCEP. */
  openChannel(streamId: number, label: string): void
  /** Resolves when everything on its way has been handled. */
  settle(): Promise<void>
  close(): void
}

/** Connects a peer; the association stands when it resolves. */
export async function connectRawPeer(options: Partial<DataChannelsOptions> = {}): Promise<RawPeer> {
  const it = {
    ...{ opened: [], messages: [], faults: [], heard: [], up: [], down: [], resets: [] },
    ended: { server: 0, peer: 0 },
    passUp: () => true,
  }
  const raw = assemble(it, options)
  await until(() => raw.ready(), 'the association')
  return raw
}

type Told = Pick<
  RawPeer,
  'opened' | 'messages' | 'faults' | 'heard' | 'up' | 'down' | 'resets' | 'ended' | 'passUp'
>

function assemble(told: Told, options: Partial<DataChannelsOptions>): RawPeer & { ready(): boolean } {
  let established = 0
  const server = new DataChannels({
    role: 'server',
    remotePort: 5000,
    maxMessageSize: 262_144,
    send: (bytes) => {
      told.down.push(Buffer.from(bytes))
      setImmediate(() => peer.receive(Buffer.from(bytes)))
    },
    onOpen: (label) => told.opened.push(label),
    onMessage: (_label, data) => told.messages.push(data),
    onClose: () => told.ended.server++,
    onFault: (reason) => told.faults.push(reason),
    ...options,
  })
  const peer: Association = new Association({
    initiate: true,
    remotePort: 5000,
    maxMessageSize: 1e9,
    send: (bytes) => {
      const copy = Buffer.from(bytes)
      told.up.push(copy)
      if (raw.passUp(copy)) setImmediate(() => server.receive(copy))
    },
    onEstablished: () => established++,
    onMessage: (streamId, protocol, data) => told.heard.push(`${streamId}:${protocol}:${data}`),
    onStreamsReset: (ids) => told.resets.push([...ids]),
    streamIds: () => [],
    onClosed: () => told.ended.peer++,
    onFault: (reason) => told.faults.push(`peer: ${reason}`),
  })
  const raw = Object.assign(told, {
    server,
    peer,
    ready: () => established > 0,
    inject: (...chunks: readonly Buffer[]) => {
      // All after the INIT carry the server's tag.
      server.receive(packet(told.up.at(-1)!.readUInt32BE(4), ...chunks))
    },
    openChannel: (streamId: number, label: string) => {
      void peer.send(streamId, PPID.dcep, writeDcepOpen(label))
    },
    settle: async () => {
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    },
    close: () => {
      peer.close()
      server.close()
    },
  })
  return raw
}
