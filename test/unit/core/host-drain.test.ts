/** The end of an edge: who is told to go elsewhere, and that nobody can hold it up. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get, request } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { type Edge, start } from '../../../core/host.ts'
import { loadedWith, plain, recordedLog } from './host-fixture.ts'

const never = new Promise<never>(() => {})

/** A plugin that drains for as long as the test likes. */
function busy() {
  const { promise, resolve } = Promise.withResolvers<void>()
  const plugin = plain((_options, _services, context) => {
    context.onDrain(() => promise)
    return {}
  })
  return { plugin, release: resolve }
}

/** Asks over a connection that is kept, and reads the answer to its end. */
async function ask(edge: Edge, agent: Agent, path: string) {
  const [response] = await once(get(`http://${edge.address}${path}`, { agent }), 'response')
  response.resume()
  await once(response, 'end')
  return response
}

describe('an edge that drains', () => {
  test('is not ready at once, and asks clients that keep their connection to open another', async () => {
    const { plugin, release } = busy()
    await using edge = await start(loadedWith({ plugin }), { log: recordedLog().log })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    assert.equal((await ask(edge, agent, '/readyz')).headers.connection, 'keep-alive')
    const drained = edge.drain()
    for (const [path, status] of Object.entries({ '/readyz': 503, '/livez': 200, '/none': 404 })) {
      const { statusCode, headers } = await ask(edge, agent, path)
      assert.deepEqual([statusCode, headers.connection], [status, 'close'], path)
    }
    release()
    await drained
    agent.destroy()
  })

  for (const [who, hold] of Object.entries({
    'an idle connection': async (edge: Edge) => {
      await ask(edge, new Agent({ keepAlive: true }), '/livez')
    },
    'half a request': async (edge: Edge) => {
      const socket = connect(edge.address.port, edge.address.host).on('error', () => {})
      socket.write('POST /never HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf')
      await once(socket, 'connect')
    },
    'a request without end': async (edge: Edge, asked: Promise<void>) => {
      get(`http://${edge.address}/never`).on('error', () => {})
      await asked
    },
    'a WebSocket whose client answers nothing any more': async (edge: Edge) => {
      const headers = {
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      }
      const [, socket] = await once(request(`http://${edge.address}/socket`, { headers }).end(), 'upgrade')
      socket.on('error', () => {}).pause()
    },
  })) {
    test(`is not held up by ${who}`, async () => {
      const asked = Promise.withResolvers<void>()
      const holder = plain((_options, _services, { http }) => {
        http.get('/never', () => {
          asked.resolve()
          return never
        })
        http.post('/never', () => never)
        http.get('/socket', { websocket: true }, () => {})
        return {}
      })
      const { log, entries } = recordedLog('warn')
      const edge = await start(loadedWith({ holder }), { log })
      await hold(edge, asked.promise)
      await edge.close()
      assert.equal(edge.http.server.listening, false)
      assert.equal(await new Promise((done) => edge.http.server.getConnections((_e, n) => done(n))), 0)
      assert.deepEqual(entries, [])
    })
  }

  test('has a deadline for all plugins together, whatever hangs, and closes each', async () => {
    const told: string[] = []
    const hanging = (name: string) =>
      plain((_options, _services, context) => {
        context.onDrain(() => never)
        context.onClose(() => {
          told.push(name)
          return never
        })
        return {}
      })
    const { log, entries } = recordedLog('warn')
    const plugins = { a: hanging('a'), b: hanging('b'), c: hanging('c') }
    const edge = await start(loadedWith(plugins, { drainSeconds: 0 }), { log, stepLimit: 100 })
    await edge.close()
    assert.deepEqual(told, ['c', 'b', 'a'])
    const late = entries.filter(({ msg }) => msg === 'plugin did not close in time')
    assert.deepEqual(
      late.map(({ plugin }) => plugin),
      ['c', 'b', 'a'],
    )
  })
})

describe('a start that is given up', () => {
  test('ends with the step that runs, which hears of it, and closes what was set up', async () => {
    const steps: string[] = []
    const asked = new AbortController()
    const first = plain((_options, _services, context) => {
      context.onClose(() => void steps.push('first closed'))
      return {}
    })
    const slow = plain(async (_options, _services, { signal }) => {
      setImmediate(() => asked.abort(new Error('stop')))
      await once(signal, 'abort')
      steps.push('slow heard')
      return {}
    })
    const last = plain(() => {
      steps.push('last set up')
      return {}
    })
    const started = start(loadedWith({ first, slow, last }), { log: recordedLog().log, signal: asked.signal })
    await assert.rejects(started, /stop/)
    assert.deepEqual(steps, ['slow heard', 'first closed'])
  })

  test('does not end an edge that has started', async () => {
    const asked = new AbortController()
    let aborted: AbortSignal | undefined
    const one = plain((_options, _services, { signal }) => {
      aborted = signal
      return {}
    })
    await using edge = await start(loadedWith({ one }), { log: recordedLog().log, signal: asked.signal })
    asked.abort()
    assert.equal(aborted?.aborted, false)
    assert.equal((await edge.http.inject('/readyz')).statusCode, 200)
  })
})
