import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Prng } from '../../../../core/testing/prng.ts'
import { Dispatch, type DispatchTarget } from '../../../../plugins/transceiver/dispatch.ts'
import { Routes } from '../../../../plugins/transceiver/routes.ts'
import { attribute, bindingRequest, stunMessage } from '../../../stun-bytes.ts'
import { path } from './ice/support.ts'

const HERE = path('203.0.113.5:40000')

/** A session that takes what it is told to take. */
class Target implements DispatchTarget {
  readonly got: string[] = []
  takes = true
  outcome: ReturnType<DispatchTarget['receiveStun']> = 'answered'

  receiveStun(): ReturnType<DispatchTarget['receiveStun']> {
    this.got.push('stun')
    return this.outcome
  }

  receiveDtls(): boolean {
    this.got.push('dtls')
    return this.takes
  }

  receiveMedia(): boolean {
    this.got.push('media')
    return this.takes
  }
}

function setUp() {
  const routes = new Routes<DispatchTarget>(0x5eed)
  const dispatch = new Dispatch()
  const [incumbent, other] = [new Target(), new Target()]
  routes.addUfrag('incumbent', incumbent)
  routes.addUfrag('other', other)
  routes.claim(HERE, incumbent)
  routes.claim(HERE, other)
  dispatch.serve(routes)
  return { routes, dispatch, incumbent, other }
}

const stun = (dispatch: Dispatch, bytes: Buffer): void => dispatch.receiveStun(bytes, 0, bytes.length, HERE)

describe('dispatch', () => {
  it('leads requests by their ufrag, whatever address they come from', () => {
    const { dispatch, incumbent, other } = setUp()
    stun(dispatch, bindingRequest('other:client'))
    assert.deepEqual([incumbent.got, other.got], [[], ['stun']])
    stun(dispatch, bindingRequest('nobody:client'))
    stun(dispatch, stunMessage(0x0001, []))
    stun(dispatch, stunMessage(0x0001, [attribute(0x0006, '')]))
    assert.equal(dispatch.drops.unknown_ufrag, 3)
    assert.deepEqual([...dispatch.stun], [['answered', 1]])
  })

  it('offers answers to the sessions at an address, until it was one’s own', () => {
    const { dispatch, incumbent, other } = setUp()
    incumbent.outcome = 'unexpected'
    other.outcome = 'validated'
    stun(dispatch, stunMessage(0x0101, []))
    assert.deepEqual([incumbent.got, other.got], [['stun'], ['stun']])
    other.outcome = 'unexpected'
    stun(dispatch, stunMessage(0x0101, []))
    assert.equal(dispatch.drops.unexpected_stun, 1)
  })

  it('offers the rest to the incumbent, then to the other, and counts what nobody takes', () => {
    const { dispatch, incumbent, other } = setUp()
    const bytes = Buffer.alloc(20)
    dispatch.receiveDtls(bytes, 0, 20, HERE)
    dispatch.receiveMedia(bytes, 0, 20, HERE)
    assert.deepEqual([incumbent.got, other.got], [['dtls', 'media'], []])
    incumbent.takes = false
    dispatch.receiveDtls(bytes, 0, 20, HERE)
    dispatch.receiveMedia(bytes, 0, 20, HERE)
    assert.deepEqual(other.got, ['dtls', 'media'])
    other.takes = false
    dispatch.receiveDtls(bytes, 0, 20, HERE)
    dispatch.receiveMedia(bytes, 0, 20, HERE)
    dispatch.receiveMedia(bytes, 0, 20, path('203.0.113.6:40000'))
    const { unclaimed_dtls, unclaimed_media } = dispatch.drops
    assert.deepEqual([unclaimed_dtls, unclaimed_media], [1, 2])
  })

  it('drops everything before it serves', () => {
    const dispatch = new Dispatch()
    stun(dispatch, bindingRequest('a:b'))
    stun(dispatch, stunMessage(0x0101, []))
    dispatch.receiveDtls(Buffer.alloc(20), 0, 20, HERE)
    dispatch.receiveMedia(Buffer.alloc(20), 0, 20, HERE)
    assert.deepEqual(dispatch.drops, {
      malformed_stun: 0,
      unknown_ufrag: 1,
      unexpected_stun: 1,
      unclaimed_dtls: 1,
      unclaimed_media: 1,
    })
  })

  it('survives any bytes', () => {
    const { dispatch, incumbent, other } = setUp()
    const prng = new Prng(7)
    const good = bindingRequest('incumbent:client')
    for (let n = 0; n < 20_000; n++) {
      const bytes = Buffer.from(good)
      for (let k = 0; k < 3; k++) bytes[prng.below(bytes.length)] = prng.below(256)
      const end = prng.below(bytes.length + 1)
      stun(dispatch, bytes.subarray(0, end))
    }
    const { malformed_stun, unknown_ufrag, unexpected_stun } = dispatch.drops
    const led = incumbent.got.length + other.got.length
    assert.ok(malformed_stun > 0 && unknown_ufrag > 0 && led > 0)
    assert.ok(malformed_stun + unknown_ufrag + unexpected_stun + led >= 20_000)
  })
})
