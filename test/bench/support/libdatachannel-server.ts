/**
 * libdatachannel's Node binding as a server under measurement. It does what our loopback does: an answer for each offer
 * that is posted, every RTP packet and every message given back, one UDP port for all calls.
 */

import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { cleanup, PeerConnection, RtcpReceivingSession } from 'node-datachannel'
import { serveDriver } from './server-protocol.ts'

const port = Number(process.argv[2])
const calls = new Set<PeerConnection>()

async function answer(request: IncomingMessage): Promise<string> {
  const offer = await text(request)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const peer = new PeerConnection('server', {
    iceServers: [],
    bindAddress: '127.0.0.1',
    enableIceUdpMux: true,
    portRangeBegin: port,
    portRangeEnd: port,
  })
  calls.add(peer)
  peer.onTrack((track) => {
    track.setMediaHandler(new RtcpReceivingSession())
    track.onMessage((packet) => void track.sendMessageBinary(packet))
  })
  peer.onDataChannel((channel) => {
    channel.onMessage((message) => {
      if (typeof message === 'string') channel.sendMessage(message)
    })
  })
  peer.onStateChange((state) => {
    if (state !== 'disconnected' && state !== 'failed' && state !== 'closed') return
    if (calls.delete(peer)) peer.close()
  })
  peer.onGatheringStateChange((state) => {
    const sdp = state === 'complete' ? peer.localDescription()?.sdp : undefined
    if (sdp !== undefined) resolve(sdp)
  })
  setTimeout(() => reject(new Error('no answer')), 5000).unref()
  peer.setRemoteDescription(offer, 'offer')
  return promise
}

const server = createServer((request, response) => {
  answer(request).then(
    (sdp) => response.writeHead(201, { 'content-type': 'application/sdp', location: '/call' }).end(sdp),
    (error) => response.writeHead(500).end(String(error)),
  )
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  serveDriver({ origin: `http://127.0.0.1:${address.port}` }, { calls: () => calls.size, stop })
})

async function stop(): Promise<void> {
  for (const peer of calls) peer.close()
  server.closeAllConnections()
  server.close()
  cleanup()
}
