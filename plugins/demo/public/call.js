/**
 * One call: a microphone in, the edge's audio out, and a data channel beside it. It says what happens by events
 * (`stage`, `audio`, `message`, `interrupted`, `ended`) and knows nothing of the page.
 */

import { endCall, postOffer } from './edge.js'

const CHANNEL = 'oai-events'
const CONNECT_WITHIN_MS = 12_000
const CLOSE_WITHIN_MS = 500

const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Why a call ended: `local` we hung up, `remote` they did, `lost` the path broke, `no-media` it never was. */
export class Call extends EventTarget {
  #pc = new RTCPeerConnection()
  #channel = this.#pc.createDataChannel(CHANNEL)
  #abort = new AbortController()
  #watchdog
  #sender
  #key
  #url
  #connected = false
  #ended = false
  /** The ip:port pairs that the answer names. */
  candidates = []

  get id() {
    return this.#url?.split('/').at(-1)
  }

  get peerConnection() {
    return this.#pc
  }

  get ended() {
    return this.#ended
  }

  /** Calls. Resolves when the answer is in place; throws what postOffer throws, and then nothing is left. */
  async start(stream, { key, model }) {
    this.#key = key
    this.#listen()
    try {
      this.#sender = this.#pc.addTrack(stream.getAudioTracks()[0], stream)
      await this.#pc.setLocalDescription()
      this.#watchTransport(this.#sender.transport)
      this.#tell('stage', 'offer')
      // No candidates and no waiting for them: the edge learns where we are from our first check.
      const sdp = this.#pc.localDescription.sdp
      const { answer, url } = await postOffer(sdp, { key, model, signal: this.#abort.signal })
      this.#url = url
      this.#tell('stage', 'answer')
      this.candidates = [...answer.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) (\d+)/gim)].map(
        (m) => `${m[1]}:${m[2]}`,
      )
      this.#watchdog = setTimeout(() => this.#end('no-media'), CONNECT_WITHIN_MS)
      await this.#pc.setRemoteDescription({ type: 'answer', sdp: answer })
    } catch (error) {
      this.#release(true)
      throw error
    }
  }

  /** Sends text on the data channel; false when it is not open. */
  send(text) {
    if (this.#channel.readyState !== 'open') return false
    this.#channel.send(text)
    return true
  }

  /** Speaks through another microphone from now on. */
  async replaceMicrophone(stream) {
    await this.#sender?.replaceTrack(stream.getAudioTracks()[0])
  }

  /** Hangs up, or gives up calling. */
  hangUp() {
    this.#end('local')
  }

  /** Gives the call up before it was made; nothing is told. */
  abandon() {
    this.#release(false)
  }

  #listen() {
    this.#pc.addEventListener('track', ({ track, streams }) =>
      this.#tell('audio', streams[0] ?? new MediaStream([track])),
    )
    this.#pc.addEventListener('iceconnectionstatechange', () => this.#watchIce(this.#pc.iceConnectionState))
    this.#pc.addEventListener('connectionstatechange', () => this.#watchConnection(this.#pc.connectionState))
    this.#channel.addEventListener('open', () => this.#tell('stage', 'channel'))
    this.#channel.addEventListener('message', ({ data }) => this.#tell('message', data))
    // The edge closes the channel when it hangs up: ICE alone would take many seconds to notice.
    this.#channel.addEventListener('close', () => this.#end('remote'))
  }

  #watchTransport(transport) {
    transport?.addEventListener('statechange', () => {
      if (transport.state === 'connected') this.#secured()
      if (transport.state === 'closed') this.#end('remote')
    })
  }

  #watchIce(state) {
    if (state === 'connected' || state === 'completed') this.#tell('stage', 'ice')
    if (state === 'disconnected') this.#tell('interrupted', true)
    if (state === 'connected' && this.#connected) this.#tell('interrupted', false)
  }

  #watchConnection(state) {
    if (state === 'connected') this.#secured()
    if (state === 'failed') this.#end(this.#connected ? 'lost' : 'no-media')
  }

  #secured() {
    if (this.#connected) return
    this.#connected = true
    clearTimeout(this.#watchdog)
    // DTLS runs over ICE; where the browser reports it first, both are reached.
    this.#tell('stage', 'ice')
    this.#tell('stage', 'dtls')
  }

  #end(reason) {
    if (this.#ended) return
    this.#release(reason !== 'remote')
    this.#tell('ended', reason)
  }

  async #release(tellEdge) {
    this.#ended = true
    clearTimeout(this.#watchdog)
    this.#abort.abort()
    // First by HTTP, then by closing: the other way round the edge may no longer know the call that we end.
    if (tellEdge && this.#url) await Promise.race([endCall(this.#url, this.#key), after(CLOSE_WITHIN_MS)])
    this.#channel.close()
    this.#pc.close()
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }))
  }
}
