/**
 * A WebRTC server of libdatachannel's that knows nothing of relays, behind one with framing `nat`. Run with `own` or
 * `given`, this file is the process of that check: the library may crash a process that ends. With `own` its ufrags are
 * its own and `defaultUpstream` leads to it; with `given` it is told a ufrag that the codec made.
 */

import assert from 'node:assert/strict'
import { PeerConnection, RtcpReceivingSession } from 'node-datachannel'
import { parseAddress } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { SealedCodec } from '../../plugins/routing-codec/sealed/codec.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { freePort } from '../peers/free-port.ts'
import { converseWith, natRelay, ROUTING_KEY, throughRelay, withoutCandidates } from './nat-relay.ts'

/** How the server comes by its ufrag. */
export type Credentials = 'own' | 'given'

/** Answers offers with what comes back as it went, on one UDP port. */
async function answer(
  offer: string,
  port: number,
  ufrag: string | undefined,
): Promise<[PeerConnection, string]> {
  const peer = new PeerConnection('server', {
    iceServers: [],
    bindAddress: '127.0.0.1',
    disableAutoNegotiation: true,
    portRangeBegin: port,
    portRangeEnd: port,
  })
  peer.onTrack((track) => {
    track.setMediaHandler(new RtcpReceivingSession())
    track.onMessage((packet) => void track.sendMessageBinary(packet))
  })
  peer.onDataChannel((channel) => {
    channel.onMessage((message) => void (typeof message === 'string' && channel.sendMessage(message)))
  })
  // It must hear of the client by what comes through the relay alone.
  peer.setRemoteDescription(withoutCandidates(offer), 'offer')
  if (ufrag === undefined) peer.setLocalDescription('answer')
  else peer.setLocalDescription('answer', { iceUfrag: ufrag, icePwd: 'a'.repeat(24) })
  await eventually('candidates are gathered', () => peer.gatheringState() === 'complete')
  return [peer, peer.localDescription()!.sdp]
}

async function check(credentials: Credentials): Promise<void> {
  const port = await freePort()
  const server = `127.0.0.1:${port}`
  await using relay: TestEdge = await startEdge({
    config: natRelay(port, credentials === 'own' ? server : undefined),
  })
  const codec = new SealedCodec([ROUTING_KEY])
  const route = { cluster: 1, address: parseAddress(server)!, session: Buffer.alloc(8, 3) }
  const ufrag = credentials === 'given' ? codec.encode(route, 'ufrag') : undefined
  await using client = await TestClient.open()
  const [peer, sdp] = await answer(client.offer, port, ufrag)
  if (ufrag !== undefined) assert.match(sdp, new RegExp(`^a=ice-ufrag:${ufrag}\r?$`, 'm'))
  client.accept({ sdp: throughRelay(relay, sdp) })
  await client.connected()
  await converseWith(client, relay, server)
  // The server's other end is the relay's socket, and has been all along.
  const seen = peer.getSelectedCandidatePair()?.remote.port
  assert.ok(seen !== undefined && seen !== client.local.port)
  peer.close()
}

if (process.argv[1] === import.meta.filename) {
  const error = await check(process.argv[2] === 'given' ? 'given' : 'own').then(
    () => '',
    (cause: Error) => String(cause.stack),
  )
  process.send!(error, () => process.kill(process.pid, 'SIGKILL'))
}
