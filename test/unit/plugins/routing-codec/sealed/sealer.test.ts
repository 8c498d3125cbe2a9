import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createSealer,
  opensslSealer,
  portableSealer,
  type Sealer,
} from '../../../../../plugins/routing-codec/sealed/sealer.ts'

const KEY = Buffer.alloc(16, 5)
const makers = { OpenSSL: opensslSealer, 'node:crypto': portableSealer }

function sealed(sealer: Sealer, nonce: Buffer, additional: Buffer, plain: Buffer) {
  const body = Buffer.from(plain)
  const tag = Buffer.alloc(16)
  sealer.seal(nonce, additional, body, tag)
  return { body, tag }
}

for (const [maker, make] of Object.entries(makers)) {
  for (const [reader, read] of Object.entries(makers)) {
    test(`what ${maker} seals ${reader} opens, and nothing that was changed`, () => {
      const sealer = make(KEY)
      const opener = read(KEY)
      for (let n = 0; n < 40; n++) {
        const nonce = Buffer.alloc(12, n)
        const additional = Buffer.alloc(2 + (n % 7), n)
        const plain = Buffer.alloc(16 + (n % 13), n)
        const { body, tag } = sealed(sealer, nonce, additional, plain)
        assert.notDeepEqual(body, plain)
        const attempt = (change?: Buffer): boolean => {
          change?.writeUInt8(change[n % change.length]! ^ 1, n % change.length)
          const copy = Buffer.from(body)
          const ok = opener.open(nonce, additional, copy, tag)
          change?.writeUInt8(change[n % change.length]! ^ 1, n % change.length)
          if (ok) assert.deepEqual(copy, plain)
          return ok
        }
        assert.ok(attempt())
        for (const part of [nonce, additional, body, tag]) assert.equal(attempt(part), false)
        assert.ok(attempt())
      }
      assert.equal(read(Buffer.alloc(16, 6)).open(Buffer.alloc(12), KEY, Buffer.alloc(16), KEY), false)
    })
  }
}

test('a closed one opens nothing, and the one in use is OpenSSL’s where that can be had', () => {
  const sealer = createSealer(KEY)
  const { body, tag } = sealed(sealer, Buffer.alloc(12), Buffer.alloc(3), Buffer.alloc(16))
  sealer.close()
  assert.equal(sealer.open(Buffer.alloc(12), Buffer.alloc(3), body, tag), false)
})
