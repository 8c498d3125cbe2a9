import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { SRTP_OVERHEAD, SrtpSession } from '../../../../../plugins/transceiver/media/srtp.ts'
import { opensslEngine } from '../../../../../plugins/transceiver/media/srtp-engine.ts'
import type { SrtpKeys, SrtpProfile } from '../../../../../plugins/transceiver/media/srtp-keys.ts'
import { portableEngine } from '../../../../../plugins/transceiver/media/srtp-portable.ts'
import { MAX_STREAMS } from '../../../../../plugins/transceiver/media/srtp-streams.ts'
import type { SrtpEngine } from '../../../../../plugins/transceiver/media/srtp-transform.ts'

const bytesOf = (name: string, length: number) =>
  createHash('sha256').update(name).digest().subarray(0, length)

function keysOf(profile: SrtpProfile): { client: SrtpKeys; server: SrtpKeys } {
  const salt = profile === 7 ? 12 : 14
  const a = { key: bytesOf('key a', 16), salt: bytesOf('salt a', salt) }
  const b = { key: bytesOf('key b', 16), salt: bytesOf('salt b', salt) }
  return {
    client: { profile, localKey: a.key, localSalt: a.salt, remoteKey: b.key, remoteSalt: b.salt },
    server: { profile, localKey: b.key, localSalt: b.salt, remoteKey: a.key, remoteSalt: a.salt },
  }
}

interface RtpShape {
  ssrc?: number
  size?: number
  extensionWords?: number
}

/** A plain RTP packet with SRTP_OVERHEAD bytes behind it. */
function rtp(sequence: number, { ssrc = 7, size = 80, extensionWords = -1 }: RtpShape = {}) {
  const header = extensionWords < 0 ? 12 : 16 + 4 * extensionWords
  const bytes = Buffer.alloc(header + size + SRTP_OVERHEAD)
  for (let i = header; i < header + size; i++) bytes[i] = (i * 31 + sequence) & 255
  bytes[0] = extensionWords < 0 ? 0x80 : 0x90
  bytes[1] = 111
  bytes.writeUInt16BE(sequence & 0xffff, 2)
  bytes.writeUInt32BE((sequence * 960) >>> 0, 4)
  bytes.writeUInt32BE(ssrc, 8)
  if (extensionWords >= 0) {
    bytes.writeUInt16BE(0xbede, 12)
    bytes.writeUInt16BE(extensionWords, 14)
  }
  return { bytes, end: header + size }
}

function rtcp(ssrc = 7, size = 52) {
  const bytes = Buffer.alloc(size + SRTP_OVERHEAD, 0x5a)
  bytes[0] = 0x81
  bytes[1] = 200
  bytes.writeUInt16BE(size / 4 - 1, 2)
  bytes.writeUInt32BE(ssrc, 4)
  return { bytes, end: size }
}

const engines: readonly (readonly [string, SrtpEngine])[] = [
  ['OpenSSL', opensslEngine],
  ['node:crypto', portableEngine],
]

for (const [name, engine] of engines) {
  for (const profile of [7, 1] as const) {
    describe(`SRTP on ${name}, profile ${profile}`, () => {
      const pair = () => {
        const keys = keysOf(profile)
        return {
          sender: new SrtpSession(keys.client, engine),
          receiver: new SrtpSession(keys.server, engine),
        }
      }
      const sealed = (sender: SrtpSession, sequence: number, shape?: RtpShape) => {
        const { bytes, end } = rtp(sequence, shape)
        const sealedEnd = sender.protectRtp(bytes, 0, end)
        assert.ok(sealedEnd > end)
        return Buffer.from(bytes.subarray(0, sealedEnd))
      }
      const opens = (receiver: SrtpSession, packet: Buffer) =>
        receiver.unprotectRtp(Buffer.from(packet), 0, packet.length) >= 0

      test('RTP and RTCP come out as they went in, and hidden in between', () => {
        const { sender, receiver } = pair()
        for (const make of [() => rtp(9), () => rtp(10, { extensionWords: 2 }), () => rtp(11, { size: 0 })]) {
          const { bytes, end } = make()
          const plain = Buffer.from(bytes.subarray(0, end))
          const sealedEnd = sender.protectRtp(bytes, 0, end)
          assert.equal(sealedEnd, end + (profile === 7 ? 16 : 10))
          if (end > 40) assert.ok(!bytes.includes(plain.subarray(end - 16, end)))
          assert.equal(receiver.unprotectRtp(bytes, 0, sealedEnd), end)
          assert.deepEqual(bytes.subarray(0, end), plain)
        }
        const { bytes, end } = rtcp()
        const plain = Buffer.from(bytes.subarray(0, end))
        const sealedEnd = sender.protectRtcp(bytes, 0, end)
        assert.equal(sealedEnd, end + (profile === 7 ? 20 : 14))
        assert.ok(!bytes.includes(plain.subarray(8, 24)))
        assert.equal(receiver.unprotectRtcp(bytes, 0, sealedEnd), end)
        assert.deepEqual(bytes.subarray(0, end), plain)
      })

      test('a replayed packet is dropped, whether it is the newest or a late one', () => {
        const { sender, receiver } = pair()
        const first = sealed(sender, 1)
        const second = sealed(sender, 2)
        const third = sealed(sender, 3)
        assert.ok(opens(receiver, first))
        assert.ok(receiver.newest)
        assert.ok(opens(receiver, third))
        assert.ok(receiver.newest)
        assert.ok(opens(receiver, second))
        assert.ok(!receiver.newest)
        for (const packet of [first, second, third]) assert.ok(!opens(receiver, packet))
        for (let i = 4; i < 600; i++) assert.ok(opens(receiver, sealed(sender, i)))
        for (const packet of [first, second, third]) assert.ok(!opens(receiver, packet))
      })

      test('a replayed RTCP packet is dropped', () => {
        const { sender, receiver } = pair()
        const packets = [0, 1, 2].map(() => {
          const { bytes, end } = rtcp()
          return Buffer.from(bytes.subarray(0, sender.protectRtcp(bytes, 0, end)))
        })
        for (const i of [0, 2, 1]) {
          assert.ok(receiver.unprotectRtcp(Buffer.from(packets[i]!), 0, packets[i]!.length) >= 0)
          assert.equal(receiver.newest, i !== 1)
        }
        for (const packet of packets) {
          assert.equal(receiver.unprotectRtcp(Buffer.from(packet), 0, packet.length), -1)
        }
      })

      test('a flipped bit anywhere is noticed, and the bytes stay as they were', () => {
        const { sender, receiver } = pair()
        const packet = sealed(sender, 5, { size: 20, extensionWords: 1 })
        const control = rtcp()
        const controlPacket = Buffer.from(
          control.bytes.subarray(0, sender.protectRtcp(control.bytes, 0, control.end)),
        )
        for (let bit = 0; bit < packet.length * 8; bit++) {
          const copy = Buffer.from(packet)
          copy[bit >> 3]! ^= 1 << (bit & 7)
          const before = Buffer.from(copy)
          assert.equal(receiver.unprotectRtp(copy, 0, copy.length), -1, `bit ${bit}`)
          assert.deepEqual(copy, before)
        }
        for (let bit = 0; bit < controlPacket.length * 8; bit++) {
          const copy = Buffer.from(controlPacket)
          copy[bit >> 3]! ^= 1 << (bit & 7)
          const before = Buffer.from(copy)
          assert.equal(receiver.unprotectRtcp(copy, 0, copy.length), -1, `bit ${bit}`)
          assert.deepEqual(copy, before)
        }
        assert.ok(opens(receiver, packet), 'the genuine packet still opens: nothing has moved')
        assert.ok(receiver.unprotectRtcp(controlPacket, 0, controlPacket.length) >= 0)
      })

      test('a forged packet far ahead does not move the window', () => {
        const { sender, receiver } = pair()
        assert.ok(opens(receiver, sealed(sender, 10)))
        const forged = sealed(sender, 11)
        forged.writeUInt16BE(30000, 2)
        assert.ok(!opens(receiver, forged))
        assert.ok(opens(receiver, sealed(sender, 12)))
      })

      test('the rollover survives a gap across the wrap and late packets on either side', () => {
        const { sender, receiver } = pair()
        const packets = new Map<number, Buffer>()
        for (let i = 65400; i < 65700; i++) packets.set(i, sealed(sender, i))
        for (const i of [65400, 65533, 65540, 65535, 65536, 65534, 65541, 65538, 65537, 65699]) {
          assert.ok(opens(receiver, packets.get(i)!), String(i))
        }
        for (const i of [65533, 65535, 65536, 65538]) assert.ok(!opens(receiver, packets.get(i)!), String(i))
      })

      test('only authentic packets take one of the 16 streams', () => {
        const { sender, receiver } = pair()
        const stranger = new SrtpSession(
          { ...keysOf(profile).client, localKey: bytesOf('other', 16) },
          engine,
        )
        for (let ssrc = 100; ssrc < 200; ssrc++) {
          const { bytes, end } = rtp(1, { ssrc })
          const sealedEnd = stranger.protectRtp(bytes, 0, end)
          if (sealedEnd > 0) assert.equal(receiver.unprotectRtp(bytes, 0, sealedEnd), -1)
        }
        for (let ssrc = 0; ssrc < MAX_STREAMS; ssrc++) assert.ok(opens(receiver, sealed(sender, 1, { ssrc })))
        const more = new SrtpSession(keysOf(profile).client, engine)
        assert.ok(!opens(receiver, sealed(more, 1, { ssrc: MAX_STREAMS })))
        assert.ok(opens(receiver, sealed(sender, 2, { ssrc: 3 })), 'the sixteen go on')
      })

      test('short, long and malformed packets are dropped without a throw', () => {
        const { sender, receiver } = pair()
        const packet = sealed(sender, 1, { extensionWords: 3 })
        for (let length = 0; length < packet.length; length++) {
          assert.equal(receiver.unprotectRtp(packet, 0, length), -1)
          assert.equal(receiver.unprotectRtcp(packet, 0, length), -1)
        }
        assert.equal(receiver.unprotectRtp(packet, 0, packet.length + 1), -1)
        assert.equal(receiver.unprotectRtp(packet, -1, packet.length), -1)
        assert.equal(receiver.unprotectRtp(packet, packet.length, 0), -1)
        const large = rtp(2, { size: 2100 })
        assert.equal(sender.protectRtp(large.bytes, 0, large.end), -1)
        assert.equal(receiver.unprotectRtp(large.bytes, 0, large.bytes.length), -1)
        const endless = rtp(3, { extensionWords: 1 })
        endless.bytes.writeUInt16BE(0xffff, 14)
        assert.equal(sender.protectRtp(endless.bytes, 0, endless.end), -1)
        assert.equal(receiver.unprotectRtp(endless.bytes, 0, endless.end + 16), -1)
        const noRoom = rtp(4)
        assert.equal(sender.protectRtp(noRoom.bytes.subarray(0, noRoom.end + 9), 0, noRoom.end), -1)
        const version = rtp(5)
        version.bytes[0] = 0x40
        assert.equal(sender.protectRtp(version.bytes, 0, version.end), -1)
        assert.ok(opens(receiver, packet))
      })

      test('RTCP in clear is refused', () => {
        const { sender, receiver } = pair()
        const { bytes, end } = rtcp()
        const sealedEnd = sender.protectRtcp(bytes, 0, end)
        const word = profile === 7 ? sealedEnd - 4 : end
        bytes[word]! &= 0x7f
        assert.equal(receiver.unprotectRtcp(bytes, 0, sealedEnd), -1)
      })

      test('a sequence number is not protected twice', () => {
        const { sender } = pair()
        sealed(sender, 1)
        sealed(sender, 2)
        const again = rtp(1)
        assert.equal(sender.protectRtp(again.bytes, 0, again.end), -1)
      })

      test('a closed session refuses everything', () => {
        const { sender, receiver } = pair()
        const packet = sealed(sender, 1)
        sender.close()
        sender.close()
        receiver.close()
        assert.ok(!opens(receiver, packet))
        const { bytes, end } = rtp(2)
        assert.equal(sender.protectRtp(bytes, 0, end), -1)
        assert.equal(sender.protectRtcp(rtcp().bytes, 0, 52), -1)
      })
    })
  }
}

for (const profile of [7, 1] as const) {
  test(`OpenSSL and node:crypto agree over 100,000 packets with rollovers, profile ${profile}`, () => {
    const { client, server } = keysOf(profile)
    const fast = new SrtpSession(client, opensslEngine)
    const slow = new SrtpSession(client, portableEngine)
    const fastReceiver = new SrtpSession(server, opensslEngine)
    const slowReceiver = new SrtpSession(server, portableEngine)
    const shapes = Array.from({ length: 60 }, (_, i) => rtp(0, { size: i * 3, extensionWords: (i % 4) - 1 }))
    const other = Buffer.alloc(512)
    let differences = 0
    for (let i = 0; i < 100_000; i++) {
      const { bytes, end } = shapes[i % shapes.length]!
      bytes.writeUInt16BE((65000 + i) & 0xffff, 2)
      bytes.copy(other, 0, 0, end)
      const sealedEnd = fast.protectRtp(bytes, 0, end)
      if (slow.protectRtp(other, 0, end) !== sealedEnd) differences++
      if (bytes.compare(other, 0, sealedEnd, 0, sealedEnd) !== 0) differences++
      const opened = i % 2 === 0 ? fastReceiver : slowReceiver
      if (opened.unprotectRtp(bytes, 0, sealedEnd) !== end) differences++
    }
    assert.equal(differences, 0)
    for (const session of [fast, slow, fastReceiver, slowReceiver]) session.close()
  })
}
