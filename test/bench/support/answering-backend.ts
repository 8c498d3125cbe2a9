/** A backend for the websocket bridge that answers each loud 20 ms at once, with 100 ms of a tone. */

import { setTimeout as delay } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'

const RATE = 24_000
/** What one packet of a whistle makes after silence is louder, and whatever a decoder makes of silence is not. */
const LOUD = 600
/** After a loud one, so much is not listened to: its echo in the decoder. */
const DEAF_MS = 200

/** 100 ms of 440 Hz. */
const ANSWER = (() => {
  const samples = Buffer.alloc((RATE / 10) * 2)
  for (let n = 0; n < RATE / 10; n++) {
    samples.writeInt16LE(Math.round(9000 * Math.sin((2 * Math.PI * 440 * n) / RATE)), n * 2)
  }
  return samples
})()

/** A running backend. */
export interface AnsweringBackend extends AsyncDisposable {
  readonly url: string
}

/** Starts it. It takes `acceptMs` to accept a connection. */
export async function startAnsweringBackend(acceptMs = 0): Promise<AnsweringBackend> {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    perMessageDeflate: false,
    verifyClient: (_info, done) => void delay(acceptMs).then(() => done(true)),
  })
  server.on('connection', answerEach)
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('error', reject)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the backend does not listen on TCP')
  return {
    url: `ws://127.0.0.1:${address.port}/`,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answerEach(socket: WebSocket): void {
  let deafUntil = 0
  socket.on('message', (data, isBinary) => {
    if (!isBinary || !Buffer.isBuffer(data)) return
    const now = performance.now()
    if (now < deafUntil || !isLoud(data)) return
    deafUntil = now + DEAF_MS
    socket.send(ANSWER)
  })
}

function isLoud(samples: Buffer): boolean {
  for (let at = 0; at + 1 < samples.length; at += 2) {
    if (Math.abs(samples.readInt16LE(at)) > LOUD) return true
  }
  return false
}
