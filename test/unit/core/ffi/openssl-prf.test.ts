import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { pseudorandom } from '../../../../core/ffi/openssl-prf.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

test('the pseudorandom function gives the known answer for SHA-256', () => {
  const out = pseudorandom(
    hex('9bbe436ba940f017b17652849a71db35'),
    'test label',
    hex('a0ba9f936cda311827a6f796ffd5198c'),
    100,
  )
  assert.deepEqual(
    out,
    hex(`e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af
      0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff70187347b66`),
  )
})

/** RFC 5246 §5, word by word. */
function byNode(secret: Buffer, label: string, seed: Buffer, length: number): Buffer {
  const whole = Buffer.concat([Buffer.from(label), seed])
  const hmac = (bytes: Buffer) => createHmac('sha256', secret).update(bytes).digest()
  let out = Buffer.alloc(0)
  for (let a = hmac(whole); out.length < length; a = hmac(a)) {
    out = Buffer.concat([out, hmac(Buffer.concat([a, whole]))])
  }
  return out.subarray(0, length)
}

test('it agrees with node:crypto at every length of secret, seed and result', () => {
  for (let i = 0; i < 200; i++) {
    const secret = Buffer.alloc(1 + ((i * 7) % 100), i)
    const seed = Buffer.alloc((i * 13) % 240, i + 1)
    const length = (i * 5) % 130
    assert.deepEqual(pseudorandom(secret, 'a label', seed, length), byNode(secret, 'a label', seed, length))
  }
})

test('a seed that is too long is refused, and the next one is as good as ever', () => {
  assert.throws(() => pseudorandom(Buffer.alloc(48), 'label', Buffer.alloc(252), 40), RangeError)
  assert.deepEqual(
    pseudorandom(Buffer.alloc(48), 'label', Buffer.alloc(251), 40),
    byNode(Buffer.alloc(48), 'label', Buffer.alloc(251), 40),
  )
})
