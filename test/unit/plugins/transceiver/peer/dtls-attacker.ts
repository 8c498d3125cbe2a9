/** An attacker on the path who has the client's certificate, as anyone on the path has, but not its key. */

import {
  createCipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  sign,
} from 'node:crypto'
import { createCertificate } from '../../../../../plugins/transceiver/peer/certificate.ts'
import { eachMessage, message, record } from './dtls-pair.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest()
const uint24 = (value: number) => Buffer.of(value >> 16, value >> 8, value)

/** RFC 5246 §5. */
function prf(secret: Buffer, label: string, seed: Buffer, length: number): Buffer {
  const whole = Buffer.concat([Buffer.from(label), seed])
  const hmac = (...parts: Buffer[]) => createHmac('sha256', secret).update(Buffer.concat(parts)).digest()
  const out: Buffer[] = []
  for (let a = hmac(whole); out.length * 32 < length; a = hmac(a)) out.push(hmac(a, whole))
  return Buffer.concat(out).subarray(0, length)
}

/** Keeps what passes and makes forged flights of it. */
export class Attacker {
  /** The server's answer and the client's flight, by message type. */
  readonly #up = new Map<number, Buffer>()
  readonly #down: Buffer[] = []

  readonly #own = createCertificate(Date.now())

  /** Of the attacker's own certificate. */
  get fingerprint(): string {
    return this.#own.fingerprint
  }

  /** Looks at a datagram. */
  see(datagram: Buffer, up: boolean): void {
    eachMessage(datagram, (type, whole) => {
      if (up) this.#up.set(type, whole)
      else if (!this.#down.some((one) => one[0] === type)) this.#down.push(whole)
    })
  }

  /** A second ClientKeyExchange, with our share, behind the client's own CertificateVerify; then Finished. */
  secondKeyExchange(): Buffer[] {
    const share = this.#share()
    const victim = [11, 16, 15].map((type) => this.#up.get(type)!)
    const transcript = [this.#up.get(1)!, ...this.#down, ...victim]
    const exchange = message(16, 4, share.message)
    const session = sha256(Buffer.concat(transcript))
    return this.#flight([exchange], share.secret, session, transcript, 5)
  }

  /** Our own Certificate and proof, then, if `again`, the client's Certificate once more; then Finished. */
  secondCertificate(again = true): Buffer[] {
    const share = this.#share()
    const der = this.#own.certificate
    const certificate = message(11, 1, Buffer.concat([uint24(der.length + 3), uint24(der.length), der]))
    const exchange = message(16, 2, share.message)
    const transcript = [this.#up.get(1)!, ...this.#down, certificate, exchange]
    const session = sha256(Buffer.concat(transcript))
    const key = createPrivateKey({ key: this.#own.privateKey, format: 'der', type: 'pkcs8' })
    const signature = sign('sha256', Buffer.concat(transcript), key)
    const scheme = Buffer.of(4, 3, signature.length >> 8, signature.length & 255)
    const proof = message(15, 3, Buffer.concat([scheme, signature]))
    transcript.push(proof)
    const flight = [certificate, exchange, proof]
    if (again) {
      const victim = Buffer.from(this.#up.get(11)!)
      victim.writeUInt16BE(4, 4)
      flight.push(victim)
    }
    return this.#flight(flight, share.secret, session, transcript, again ? 5 : 4)
  }

  #share(): { message: Buffer; secret: Buffer } {
    const serverKeyExchange = this.#down.find((one) => one[0] === 12)!
    const pair = generateKeyPairSync('x25519')
    const spki = pair.publicKey.export({ type: 'spki', format: 'der' })
    const theirs = serverKeyExchange.subarray(16, 16 + serverKeyExchange[15]!)
    const publicKey = createPublicKey({
      key: Buffer.concat([spki.subarray(0, spki.length - 32), theirs]),
      format: 'der',
      type: 'spki',
    })
    return {
      message: Buffer.concat([Buffer.of(32), spki.subarray(-32)]),
      secret: diffieHellman({ privateKey: pair.privateKey, publicKey }),
    }
  }

  #flight(
    plain: Buffer[],
    premaster: Buffer,
    session: Buffer,
    transcript: Buffer[],
    sequence: number,
  ): Buffer[] {
    const clientRandom = this.#up.get(1)!.subarray(14, 46)
    const serverRandom = this.#down.find((one) => one[0] === 2)!.subarray(14, 46)
    const master = prf(premaster, 'extended master secret', session, 48)
    const keys = prf(master, 'key expansion', Buffer.concat([serverRandom, clientRandom]), 40)
    const verify = prf(master, 'client finished', sha256(Buffer.concat(transcript)), 12)
    const finished = message(20, sequence, verify)
    const explicit = Buffer.of(0, 1, 0, 0, 0, 0, 0, 0)
    const cipher = createCipheriv(
      'aes-128-gcm',
      keys.subarray(0, 16),
      Buffer.concat([keys.subarray(32, 36), explicit]),
    )
    cipher.setAAD(Buffer.concat([explicit, Buffer.of(22, 0xfe, 0xfd, 0, finished.length)]))
    const body = Buffer.concat([explicit, cipher.update(finished), cipher.final(), cipher.getAuthTag()])
    return [
      ...plain.map((one, i) => record(22, 0, 50 + i, one)),
      record(20, 0, 60, Buffer.of(1)),
      record(22, 1, 0, body),
    ]
  }
}
