import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SrtpSession } from '../../../../../plugins/transceiver/media/srtp.ts'
import { opensslEngine } from '../../../../../plugins/transceiver/media/srtp-engine.ts'
import { deriveSessionKeys } from '../../../../../plugins/transceiver/media/srtp-keys.ts'
import { portableEngine } from '../../../../../plugins/transceiver/media/srtp-portable.ts'
import { MAX_STREAMS } from '../../../../../plugins/transceiver/media/srtp-streams.ts'
import type { SrtpEngine } from '../../../../../plugins/transceiver/media/srtp-transform.ts'
import { bytesOf, keysOf, type RtpShape, rtcp, rtp } from './srtp-packets.ts'

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

      test('RTCP in clear is refused, authentic or not', () => {
        const { sender, receiver } = pair()
        const { bytes, end } = rtcp()
        const sealedEnd = sender.protectRtcp(bytes, 0, end)
        const word = profile === 7 ? sealedEnd - 4 : end
        bytes[word]! &= 0x7f
        if (profile === 1) {
          const { localKey, localSalt } = keysOf(profile).client
          const { authentication } = deriveSessionKeys(portableEngine.counter(localKey), localSalt, 'rtcp')
          engine.mac(authentication).sign(bytes, 0, end + 4, -1, end + 4)
        }
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
