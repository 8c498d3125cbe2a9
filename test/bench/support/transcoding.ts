/**
 * Calls that are transcoded as fast as one core can: through the media path, on a clock that is moved by hand, or by the
 * codec alone. Both decode and encode the same packets, a codec of each kind for every call.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { Call } from '../../../plugins/transceiver/call.ts'
import { MediaSession } from '../../../plugins/transceiver/media/media-session.ts'
import { OpusDecoder } from '../../../plugins/transceiver/media/opus.ts'
import { type OpusEncoder, openEncoder } from '../../../plugins/transceiver/media/opus-encoder.ts'
import { PlayoutClock, SLOT_MS } from '../../../plugins/transceiver/media/pacer.ts'
import { RTP_HEADER, writeRtp } from '../../../plugins/transceiver/media/rtp.ts'

/** What is transcoded. */
export interface Load {
  readonly rate: 16000 | 24000
  readonly calls: number
  /** 20 ms Opus packets, sent again and again. */
  readonly packets: readonly Uint8Array[]
}

/** Some calls under way. */
export interface Transcoder {
  /** One packet in and one out for each call. */
  slot(n: number): Promise<void>
  /** How many packets came out. */
  readonly sent: number
  close(): void
}

/** The codec and nothing else. */
export function codecAlone({ rate, calls, packets }: Load): Transcoder {
  const codecs = Array.from({ length: calls }, () => ({
    decoder: new OpusDecoder(rate),
    encoder: openEncoder(rate),
  }))
  const into = new Uint8Array(1500)
  let sent = 0
  return {
    async slot(n) {
      for (const { decoder, encoder } of codecs) {
        const packet = packets[n % packets.length]!
        if (through(decoder, encoder, packet, into) > 0) sent++
      }
      await turn()
    },
    get sent() {
      return sent
    },
    close() {
      for (const { decoder, encoder } of codecs) {
        decoder.close()
        encoder.close()
      }
    },
  }
}

function through(decoder: OpusDecoder, encoder: OpusEncoder, packet: Uint8Array, into: Uint8Array): number {
  return encoder.encode(decoder.decode(packet, 0, packet.length)!, into, 0)
}

/** RTP in, a bridge that plays what it hears, RTP out. */
export function mediaPath({ rate, calls, packets }: Load): Transcoder {
  let now = 0
  let fire: (() => void) | undefined
  const clock = new PlayoutClock({
    now: () => now,
    schedule: (run) => {
      fire = run
      return () => {
        fire = undefined
      }
    },
  })
  let sent = 0
  const sessions = Array.from({ length: calls }, () => openCall(rate, clock, () => sent++))
  const bytes = Buffer.alloc(RTP_HEADER + 1500)
  return {
    async slot(n) {
      const packet = packets[n % packets.length]!
      const at = writeRtp(bytes, 0, 111, n === 0, n & 0xffff, (n * 960) % 2 ** 32, 7)
      bytes.set(packet, at)
      for (const { media } of sessions) media.receiveRtp(now, bytes, 0, at + packet.length)
      await turn()
      now += SLOT_MS
      const run = fire
      fire = undefined
      run?.()
    },
    get sent() {
      return sent
    },
    close() {
      for (const { media, call } of sessions) {
        call.close('over')
        media.close()
      }
    },
  }
}

function openCall(rate: Load['rate'], clock: PlayoutClock, onSent: () => void) {
  const media: MediaSession = new MediaSession({
    ssrc: 1,
    cname: 'bench',
    audio: { payloadType: 111, telephoneEvents: [] },
    format: { pcm16: rate },
    clock,
    sendRtp: onSent,
    sendRtcp: () => {},
    onFrame: (frame) => call.pushFrame(frame),
    onTelephoneEvent: () => {},
  })
  const call = new Call({
    id: 'bench',
    traceSession: new Uint8Array(8),
    caller: { name: 'bench' },
    media,
    sendEvent: () => true,
    onEnd: () => {},
  })
  media.start()
  void echo(call)
  return { media, call }
}

async function echo(call: Call): Promise<void> {
  for await (const frame of call.audio) await call.play(frame)
}
