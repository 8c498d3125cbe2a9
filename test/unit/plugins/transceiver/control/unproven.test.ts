/** Idle connections of one host leave room for everybody else's, and for its own once they have proven themselves. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import type { Address } from '../../../../../core/index.ts'
import { Unproven } from '../../../../../plugins/transceiver/control/unproven.ts'
import { ask, CALL, Owner, signed } from './support.ts'

describe('connections that have proven nothing', () => {
  it('are counted by host, and each frees its place once', () => {
    const unproven = new Unproven<object>(2)
    const [a, b, c] = [{}, {}, {}]
    assert.ok(unproven.take(a, 'here'))
    assert.ok(unproven.take(b, 'here'))
    assert.ok(!unproven.take(c, 'here'))
    assert.ok(unproven.take(c, 'there'))
    unproven.release(a)
    unproven.release(a)
    assert.ok(unproven.take({}, 'here'))
    assert.ok(!unproven.take({}, 'here'))
  })

  it('leave room for other hosts', async () => {
    await using owner = await Owner.open({ limits: { connections: 8, unproven: 4 } })
    using crowd = Crowd.from(owner.local, '127.0.0.1', 8)
    await crowd.cutOff(4)
    const agent = new Agent({ localAddress: '127.0.0.2' })
    assert.equal(await statusBy(agent, owner.local), 200)
    agent.destroy()
  })

  it('are none any more after a signed request', async () => {
    await using owner = await Owner.open({ limits: { unproven: 1 } })
    const agent = new Agent({ keepAlive: true })
    assert.equal(await statusBy(agent, owner.local), 200)
    assert.equal((await ask(owner.local, signed({}))).status, 200)
    agent.destroy()
  })
})

/** Connections of one host on which nothing is said. */
class Crowd implements Disposable {
  readonly #sockets: Socket[]

  private constructor(sockets: Socket[]) {
    this.#sockets = sockets
  }

  static from(to: Address, localAddress: string, many: number): Crowd {
    const sockets = Array.from({ length: many }, () => {
      const socket = connect({ host: to.host, port: to.port, localAddress })
      socket.on('error', () => {})
      return socket
    })
    return new Crowd(sockets)
  }

  /** Resolves when that many are closed by the other side. */
  async cutOff(many: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = (): void => {
      if (this.#sockets.filter(({ closed }) => closed).length >= many) resolve()
    }
    for (const socket of this.#sockets) socket.once('close', look)
    look()
    await promise
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

async function statusBy(agent: Agent, to: Address): Promise<number | undefined> {
  const { headers } = signed({})
  const asked = get({ agent, host: to.host, port: to.port, path: CALL, headers })
  const [answer] = await once(asked, 'response')
  answer.resume()
  await once(answer, 'end')
  return answer.statusCode
}
