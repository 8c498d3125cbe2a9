import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SrtpSession } from '../../../../../plugins/transceiver/media/srtp.ts'
import { opensslEngine } from '../../../../../plugins/transceiver/media/srtp-engine.ts'
import { portableEngine } from '../../../../../plugins/transceiver/media/srtp-portable.ts'
import { keysOf, rtp } from './srtp-packets.ts'

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
