/** What a signature covers: everything that is asked, by whom and when; and what it does to change the key. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  CLOCK_WINDOW_MS,
  ControlKeys,
  digest,
  type SeenAnswer,
  type SeenRequest,
  type UnsignedRequest,
} from '../../../../../plugins/transceiver/control/signature.ts'

const NOW = 1_700_000_000_000
const OLD = 'the first secret of thirty-two characters'
const NEW = 'the second secret of so many characters'
const keys = new ControlKeys([OLD])

const REQUEST: UnsignedRequest = {
  method: 'POST',
  path: '/control/v1/realtime/calls/rtc_abc/hangup?x=1',
  headers: { 'content-type': 'application/json', 'if-match': '"a"' },
  caller: { name: 'alice' },
  body: digest(Buffer.from('{}')),
  time: NOW,
  nonce: 'AAAAAAAAAAAAAAAAAAAAAA',
}
const ANSWER: SeenAnswer = { status: 200, headers: { etag: '"b"' }, body: digest(Buffer.from('ok')) }

const verify = (seen: Partial<SeenRequest> = {}, header = keys.sign(REQUEST), now = NOW, by = keys) =>
  by.verify(header, { ...REQUEST, ...seen }, now)

describe('a signed request', () => {
  it('says who asks, with which body and nonce', () => {
    const proof = verify()
    assert.deepEqual(proof?.caller, { name: 'alice' })
    assert.equal(proof?.body, REQUEST.body)
    assert.equal(proof?.nonce, REQUEST.nonce)
  })

  it('names any caller, and no other by mistake', () => {
    for (const caller of [
      { name: '' },
      { name: 'Ünï "cödé", mac=0\n' },
      { name: 'alice', clientSecret: 'ek_1' },
      { name: '["alice","ek_1"]' },
    ]) {
      assert.deepEqual(verify({}, keys.sign({ ...REQUEST, caller }))?.caller, caller)
    }
  })

  it('is good for this method, path and these headers alone', () => {
    const others: Partial<SeenRequest>[] = [
      { method: 'DELETE' },
      { path: '/control/v1/realtime/calls/rtc_abc/hangup?x=2' },
      { path: '/control/v1/realtime/calls/rtc_abc/hangup' },
      { headers: {} },
      { headers: { ...REQUEST.headers, 'if-match': '"c"' } },
      { headers: { ...REQUEST.headers, upgrade: 'websocket' } },
      { method: 'POST\n/control', path: 'x' },
    ]
    for (const seen of others) assert.equal(verify(seen), undefined, JSON.stringify(seen))
    assert.ok(
      verify({ headers: { ...REQUEST.headers, 'user-agent': 'any' } }),
      'what does not travel does not count',
    )
  })

  it('is good for what it says of itself alone', () => {
    const header = keys.sign(REQUEST)
    const swap = (field: string, value: string) =>
      header.replace(new RegExp(`${field}=[^,]*`), `${field}=${value}`)
    const bob = Buffer.from('["bob",null]').toString('base64url')
    const others = [
      swap('time', String(NOW + 1)),
      swap('nonce', 'BBBBBBBBBBBBBBBBBBBBBB'),
      swap('caller', bob),
      swap('body', digest(Buffer.from('{ }'))),
      swap('mac', '0'.repeat(64)),
    ]
    for (const other of others) {
      assert.notEqual(other, header)
      assert.equal(verify({}, other), undefined, other)
    }
  })

  it('is none in any other shape', () => {
    const header = keys.sign(REQUEST)
    const shapes = [
      undefined,
      '',
      'Bearer x',
      header.toLowerCase(),
      ` ${header}`,
      `${header} `,
      header.slice(0, -1),
    ]
    for (const shape of [...shapes, header.replace('time=', 'time=-'), 'Earshot-Control '.repeat(9999)]) {
      assert.equal(keys.verify(shape, REQUEST, NOW), undefined, shape)
    }
  })

  it('is good for half a minute, of a clock that is ahead as of one behind', () => {
    const header = keys.sign(REQUEST)
    for (const off of [-CLOCK_WINDOW_MS, 0, CLOCK_WINDOW_MS]) assert.ok(verify({}, header, NOW + off))
    for (const off of [-CLOCK_WINDOW_MS - 1, CLOCK_WINDOW_MS + 1]) {
      assert.equal(verify({}, header, NOW + off), undefined)
    }
  })

  it('of a cluster with another key is none', () => {
    assert.equal(verify({}, new ControlKeys([NEW]).sign(REQUEST)), undefined)
  })
})

describe('a signed answer', () => {
  const mac = verify()!.sign(ANSWER)

  it('is an answer to this request, with this status, these headers and this body', () => {
    const { nonce } = REQUEST
    assert.ok(keys.verifyAnswer(mac, nonce, ANSWER))
    assert.ok(!keys.verifyAnswer(mac, 'BBBBBBBBBBBBBBBBBBBBBB', ANSWER))
    for (const part of [
      { status: 404 },
      { headers: {} },
      { headers: { etag: '"c"' } },
      { body: digest(Buffer.of()) },
    ]) {
      assert.ok(!keys.verifyAnswer(mac, nonce, { ...ANSWER, ...part }), JSON.stringify(part))
    }
    for (const other of [undefined, '', [mac], mac.toUpperCase(), `${mac}0`, '0'.repeat(64)]) {
      assert.ok(!keys.verifyAnswer(other, nonce, ANSWER), String(other))
    }
    assert.ok(!new ControlKeys([NEW]).verifyAnswer(mac, nonce, ANSWER))
  })

  it('never passes for a request, nor a request for an answer', () => {
    const asRequest = keys.sign(REQUEST).replace(/mac=.*/, `mac=${mac}`)
    assert.equal(verify({}, asRequest), undefined)
    const ofRequest = /mac=(.*)/.exec(keys.sign(REQUEST))![1]
    assert.ok(!keys.verifyAnswer(ofRequest, REQUEST.nonce, ANSWER))
  })
})

describe('a change of keys', () => {
  const stages = [[OLD], [OLD, NEW], [NEW, OLD], [NEW]]

  it('loses nothing while neighbouring stages are at work together', () => {
    for (const [i, stage] of stages.entries()) {
      for (const other of [stages[i - 1], stage, stages[i + 1]]) {
        if (!other) continue
        const asking = new ControlKeys(stage)
        const owner = new ControlKeys(other)
        const proof = verify({}, asking.sign(REQUEST), NOW, owner)
        assert.ok(proof, `${stage} asks ${other}`)
        assert.ok(asking.verifyAnswer(proof.sign(ANSWER), REQUEST.nonce, ANSWER), `${other} answers ${stage}`)
      }
    }
  })

  it('ends with the old key worth nothing', () => {
    assert.equal(verify({}, keys.sign(REQUEST), NOW, new ControlKeys([NEW])), undefined)
  })
})
