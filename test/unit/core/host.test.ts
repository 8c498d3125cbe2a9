import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { EdgeError } from '../../../core/errors.ts'
import { start } from '../../../core/host.ts'
import { service } from '../../../core/index.ts'
import { loadedWith, plain, recordedLog } from './host-fixture.ts'

const Thing = service<{ value: number }>('thing')

test('plugins are set up in order of need, made ready, and closed last in first out', async () => {
  const steps: string[] = []
  const user = plain(
    (_options, services, context) => {
      steps.push(`user got ${JSON.stringify(services)}`)
      context.onReady(() => void steps.push('user ready'))
      context.onClose(() => void steps.push('user closed'))
      context.onClose(() => void steps.push('user closed first'))
      return {}
    },
    { requires: { mine: Thing } },
  )
  const giver = plain(
    (_options, _services, context) => {
      steps.push('giver set up')
      context.onReady(() => void steps.push('giver ready'))
      context.onDrain(() => void steps.push('giver drained'))
      context.onClose(() => void steps.push('giver closed'))
      return { theirs: { value: 7 } }
    },
    { provides: { theirs: Thing } },
  )
  const { log } = recordedLog()
  const edge = await start(loadedWith({ user, giver }), { log })
  assert.deepEqual(steps, ['giver set up', 'user got {"mine":{"value":7}}', 'giver ready', 'user ready'])
  await edge.close()
  assert.deepEqual(steps.slice(4), ['giver drained', 'user closed first', 'user closed', 'giver closed'])
})

test('an optional service that nobody gives is undefined', async () => {
  let seen: unknown = 'unset'
  const user = plain(
    (_options, services) => {
      seen = services.maybe
      return {}
    },
    { optional: { maybe: Thing } },
  )
  await using _edge = await start(loadedWith({ user }), { log: recordedLog().log })
  assert.equal(seen, undefined)
})

test('a set-up that fails closes what was set up, in reverse, and names the plugin', async () => {
  const closed: string[] = []
  const good = (name: string) =>
    plain((_options, _services, context) => {
      context.onClose(() => void closed.push(name))
      return {}
    })
  const bad = plain(() => {
    throw new Error('no luck')
  })
  const never = plain(() => {
    closed.push('was set up')
    return {}
  })
  await assert.rejects(
    start(loadedWith({ one: good('one'), two: good('two'), bad, never }), { log: recordedLog().log }),
    (error) => {
      assert.ok(error instanceof EdgeError)
      assert.equal(error.code, 'plugin_failed')
      assert.equal(error.message, 'plugin "bad" failed in setup: no luck')
      return true
    },
  )
  assert.deepEqual(closed, ['two', 'one'])
})

test("a plugin's own EdgeError keeps its code", async () => {
  const bad = plain(async () => {
    throw new EdgeError('address_in_use', 'udp 127.0.0.1:5 is in use')
  })
  await assert.rejects(start(loadedWith({ bad }), { log: recordedLog().log }), { code: 'address_in_use' })
})

test('a set-up that never ends is given up by name', async () => {
  const slow = plain(() => new Promise(() => {}))
  await assert.rejects(start(loadedWith({ slow }), { log: recordedLog().log, stepLimit: 20 }), {
    code: 'plugin_failed',
    message: 'plugin "slow" was not done with setup after 0.02 s',
  })
})

test('a plugin that does not return what it provides is named', async () => {
  const liar = plain(() => ({}), { provides: { theirs: Thing } })
  await assert.rejects(start(loadedWith({ liar }), { log: recordedLog().log }), {
    code: 'plugin_failed',
    message: /plugin "liar".*provides "theirs"/,
  })
})

test('readiness is 503 while draining, liveness stays 200', async () => {
  let release = (): void => {}
  const busy = plain((_options, _services, context) => {
    context.onDrain(() => new Promise((done) => (release = done)))
    return {}
  })
  await using edge = await start(loadedWith({ busy }), { log: recordedLog().log })
  assert.equal((await edge.http.inject('/readyz')).statusCode, 200)
  const drained = edge.drain()
  for (const listener of [edge.http, edge.admin]) {
    const ready = await listener.inject('/readyz')
    assert.equal(ready.statusCode, 503)
    assert.ok(ready.headers['retry-after'])
    assert.deepEqual(ready.json(), { status: 'draining' })
    assert.equal((await listener.inject('/livez')).statusCode, 200)
  }
  release()
  await drained
})

test('drains run together; the deadline aborts and is not waited past', async () => {
  const { log, entries } = recordedLog()
  const aborted: string[] = []
  const busy = (name: string) =>
    plain((_options, _services, context) => {
      context.onDrain((deadline) => {
        deadline.addEventListener('abort', () => aborted.push(name))
        return new Promise(() => {})
      })
      return {}
    })
  const loaded = loadedWith({ a: busy('a'), b: busy('b') }, { drainSeconds: 0 })
  const edge = await start(loaded, { log })
  await edge.close()
  assert.deepEqual(aborted, ['a', 'b'])
  assert.ok(entries.some(({ msg }) => msg === 'drain ran out of time'))
})

test('one plugin that fails or hangs in close keeps nobody else from closing', async () => {
  const { log, entries } = recordedLog()
  let first = false
  const loaded = loadedWith({
    first: plain((_options, _services, context) => {
      context.onClose(() => {
        first = true
      })
      return {}
    }),
    fails: plain((_options, _services, context) => {
      context.onClose(() => {
        throw new Error('stuck')
      })
      return {}
    }),
    hangs: plain((_options, _services, context) => {
      context.onClose(() => new Promise(() => {}))
      return {}
    }),
  })
  const edge = await start(loaded, { log, stepLimit: 20 })
  await edge.close()
  assert.equal(first, true)
  const said = entries.map(({ msg, plugin }) => `${plugin}: ${msg}`)
  assert.ok(said.includes('hangs: plugin did not close in time'))
  assert.ok(said.includes('fails: plugin failed to close'))
})

test('closing twice is closing once', async () => {
  let count = 0
  const one = plain((_options, _services, context) => {
    context.onClose(() => void count++)
    return {}
  })
  const edge = await start(loadedWith({ one }), { log: recordedLog().log })
  await Promise.all([edge.close(), edge.close()])
  assert.equal(count, 1)
})

test('a port in use says which address, which setting and what to do, and frees everything', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const bound = taken.address()
  assert.ok(bound && typeof bound === 'object')
  let closed = false
  const one = plain((_options, _services, context) => {
    context.onClose(() => {
      closed = true
    })
    return {}
  })
  const loaded = loadedWith({ one }, { http: { listen: `127.0.0.1:${bound.port}` } })
  await assert.rejects(start(loaded, { log: recordedLog().log }), {
    code: 'address_in_use',
    message: `http.listen: 127.0.0.1:${bound.port} is in use already; stop what listens there, or set http.listen to another port`,
  })
  assert.equal(closed, true)
  taken.close()
})

test("a plugin's routes are its own on both listeners, and hooks stay inside its scope", async () => {
  const hooked = plain((_options, _services, { http, admin }) => {
    http.addHook('onRequest', async (_request, reply) => void reply.header('x-hooked', '1'))
    http.get('/hooked', async () => 'public')
    admin.get('/hooked', async () => 'admin')
    return {}
  })
  const other = plain((_options, _services, { http }) => {
    http.get('/other', async () => 'other')
    return {}
  })
  await using edge = await start(loadedWith({ hooked, other }), { log: recordedLog().log })
  assert.equal((await edge.http.inject('/hooked')).headers['x-hooked'], '1')
  assert.equal((await edge.http.inject('/other')).headers['x-hooked'], undefined)
  assert.equal((await edge.admin.inject('/hooked')).body, 'admin')
  assert.equal((await edge.admin.inject('/other')).statusCode, 404)
})

test('the start is logged: one line with the URL, to open if there is a page, and one that says ready', async () => {
  const page = plain((_options, _services, { http }) => {
    http.get('/', async () => 'a page')
    return {}
  })
  for (const [plugins, verb] of [
    [{ page }, 'open'],
    [{}, 'listening on'],
  ] as const) {
    const { log, entries } = recordedLog('info')
    await using edge = await start(loadedWith(plugins), { log })
    const said = entries.map(({ msg }) => msg)
    assert.deepEqual(said, [`${verb} http://localhost:${edge.address.port}/`, 'ready'])
  }
})

test('metrics are served on the admin listener only, with the plugin as their scope', async () => {
  const counting = plain((_options, _services, { meter }) => {
    meter.createCounter('earshot.things').add(3, { kind: 'x' })
    return {}
  })
  await using edge = await start(loadedWith({ counting }), { log: recordedLog().log, env: {} })
  const text = (await edge.admin.inject('/metrics')).body
  assert.match(text, /^earshot_things_total\{kind="x",otel_scope_name="counting"\} 3$/m)
  assert.match(text, /service_name="earshot"/)
  assert.equal((await edge.http.inject('/metrics')).statusCode, 404)
})

test('without an admin listener plugins still have a scope for it', async () => {
  const one = plain((_options, _services, { admin }) => {
    admin.get('/x', async () => 'x')
    return {}
  })
  await using edge = await start(loadedWith({ one }, { admin: false }), { log: recordedLog().log })
  assert.equal(edge.adminAddress, undefined)
})

test('a request in flight is answered before the process closes', async () => {
  let entered = (): void => {}
  const inside = new Promise<void>((done) => (entered = done))
  let answer = (): void => {}
  const slow = plain((_options, _services, { http }) => {
    http.get('/slow', async () => {
      entered()
      await new Promise<void>((done) => (answer = done))
      return 'done'
    })
    return {}
  })
  const edge = await start(loadedWith({ slow }), { log: recordedLog().log })
  const request = fetch(`http://${edge.address}/slow`)
  await inside
  const closing = edge.close()
  answer()
  assert.equal(await (await request).text(), 'done')
  await closing
})
