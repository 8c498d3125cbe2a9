/**
 * An edge inside the page, for tests of the page and of the harness alone: a second peer connection that sends every
 * sound and every event back. It takes the place of the page's `fetch`; no server and no network has a part in it.
 */

import type { Page } from 'playwright-core'

/** What the page's calls API does instead of the real one. */
export interface LoopOptions {
  /** Answer every offer with this status and error body instead. */
  readonly refuse?: {
    readonly status: number
    readonly code: string
    readonly message: string
    readonly retryAfter?: number
  }
  /** Refuse offers without this key. */
  readonly key?: string
  /** Answer with this ip:port as the only candidate. */
  readonly elsewhere?: string
  /** Never answer an offer. */
  readonly silent?: boolean
}

/**
 * Puts the edge into every page that is opened from now on. In the page, `pageLoop.hangUp()` hangs up from the edge's
 * side, and `pageLoop.deleted` lists the calls that the page ended over HTTP.
 */
export async function installPageLoop(page: Page, options: LoopOptions = {}): Promise<void> {
  await page.addInitScript(`(${script})(${JSON.stringify(options)})`)
}

const script = `(options) => {
  const json = (status, code, message, headers = {}) => new Response(JSON.stringify({ error: { message, type: 'x', code, param: null } }),
    { status, headers: { 'content-type': 'application/json', ...headers } })

  async function answerTo(offer) {
    const pc = new RTCPeerConnection()
    pageLoop.pc = pc
    pc.ondatachannel = ({ channel }) => {
      pageLoop.channel = channel
      channel.onmessage = ({ data }) => channel.send(data)
    }
    await pc.setRemoteDescription({ type: 'offer', sdp: offer })
    const transceiver = pc.getTransceivers()[0]
    transceiver.direction = 'sendrecv'
    await transceiver.sender.replaceTrack(transceiver.receiver.track)
    await pc.setLocalDescription()
    while (pc.iceGatheringState !== 'complete') await new Promise((resolve) => (pc.onicegatheringstatechange = resolve))
    const { sdp } = pc.localDescription
    if (!options.elsewhere) return sdp
    const [ip, port] = options.elsewhere.split(':')
    const lines = sdp.split('\\r\\n').filter((line) => !line.startsWith('a=candidate:'))
    const at = lines.findIndex((line) => line.startsWith('a=ice-ufrag:'))
    lines.splice(at, 0, 'a=candidate:1 1 udp 2130706431 ' + ip + ' ' + port + ' typ host')
    return lines.join('\\r\\n')
  }

  window.pageLoop = {
    deleted: [],
    hangUp: () => pageLoop.channel.close(),
    async fetch(url, { method, body, headers, signal } = {}) {
      if (method === 'DELETE') {
        pageLoop.deleted.push(String(url))
        pageLoop.pc?.close()
        return new Response('{}')
      }
      const { refuse, key } = options
      if (key && headers.authorization !== 'Bearer ' + key) return json(401, 'unauthorized', 'An API key is needed.')
      if (options.silent) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      if (refuse) return json(refuse.status, refuse.code, refuse.message, refuse.retryAfter ? { 'retry-after': String(refuse.retryAfter) } : {})
      return new Response(await answerTo(body), { status: 201, headers: { location: '/v1/realtime/calls/rtc_loop' } })
    },
  }
  const real = window.fetch.bind(window)
  window.fetch = (url, init) => String(url).includes('/v1/realtime/calls') ? pageLoop.fetch(url, init) : real(url, init)
}`
