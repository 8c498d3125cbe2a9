/** What is open before anything else of a start, and whose it is afterwards. */

import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, describe, test } from 'node:test'
import { openEarly } from '../../../core/early-start.ts'
import { eventually } from '../../../core/testing/check.ts'
import { batchedEngine } from '../../../core/udp/batched-engine.ts'
import { closeEarlySockets } from '../../../core/udp/early-sockets.ts'
import { Address } from '../../../core/wire/address.ts'
import { earlyAddresses } from '../../../plugins/relay/early.ts'
import { freePort } from '../../peers/free-port.ts'

const RELAY = new URL('../../../plugins/relay/index.ts', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'earshot-early-'))
const engine = batchedEngine()
after(() => rmSync(folder, { recursive: true, force: true }))
afterEach(closeEarlySockets)

function config(content: unknown): string {
  const file = join(folder, 'edge.config.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const relayAt = (port: number | string, more: object = {}): object => ({
  plugins: { relay: { use: RELAY, options: { listen: [`127.0.0.1:${port}`] } } },
  ...more,
})

async function isOpen(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  socket.bind(port, '127.0.0.1')
  const taken = await once(socket, 'listening').then(
    () => false,
    () => true,
  )
  socket.close()
  return taken
}

describe('an early start', { skip: engine ? false : 'no system calls for UDP in batches here' }, () => {
  test('opens where the relay will listen, and keeps what comes for whoever opens it in earnest', async () => {
    const port = await freePort()
    await openEarly(config(relayAt('${PORT}')), { PORT: String(port) })
    assert.ok(await isOpen(port))
    const client = createSocket('udp4')
    client.send('early', port, '127.0.0.1')
    const received: string[] = []
    const relay = await engine!.open({
      address: new Address().set(0, 0, 0xffff, 0x7f000001, port),
      onDatagram: ({ bytes, start, end }) => received.push(bytes.toString('latin1', start, end)),
    })
    await eventually('it is there', () => received.length === 1)
    client.close()
    closeEarlySockets()
    assert.ok(await isOpen(port), 'what was taken is its taker’s')
    await relay.close()
    assert.equal(await isOpen(port), false)
  })
  test('a thread’s socket is that one too', async () => {
    const port = await freePort()
    await openEarly(config(relayAt(port)))
    const address = new Address().set(0, 0, 0xffff, 0x7f000001, port)
    const socket = engine!.threads!.open(address, { reusePort: false })
    assert.equal(socket.local.port, port)
    socket.close()
    assert.equal(await isOpen(port), false)
  })
  test('what nobody took is closed when the start is over', async () => {
    const port = await freePort()
    await openEarly(config(relayAt(port)))
    closeEarlySockets()
    assert.equal(await isOpen(port), false)
  })
  test('a config that is wrong opens nothing, and is told of by whoever loads it', async () => {
    const port = await freePort()
    for (const wrong of ['{', '7', relayAt('x'), relayAt(port, { node: { udp: 'dgram' } })]) {
      await openEarly(config(wrong))
    }
    await openEarly(join(folder, 'none.json'))
    assert.equal(await isOpen(port), false)
  })
  test('the file of another’s plugin is not touched', async () => {
    writeFileSync(join(folder, 'early.ts'), 'throw new Error("imported")')
    writeFileSync(join(folder, 'index.ts'), 'export default {}')
    const port = await freePort()
    const { plugins } = JSON.parse(JSON.stringify(relayAt(port)))
    await openEarly(config({ plugins: { mine: { use: './index.ts' }, ...plugins } }))
    assert.ok(await isOpen(port))
  })
})

test('the relay says where it will listen, whatever its options are', () => {
  const at = (options: unknown): string[] => earlyAddresses(options).map(String)
  assert.deepEqual(at({ listen: ['127.0.0.1:1', { bind: '127.0.0.1:2', advertise: '192.0.2.1:2' }] }), [
    '127.0.0.1:1',
    '127.0.0.1:2',
  ])
  assert.deepEqual(at({ listen: ['127.0.0.1:1', 'x', 7, null, {}], upstream: '127.0.0.1:9' }), [
    '127.0.0.1:1',
    '127.0.0.1:9',
  ])
  const internal = { listen: '127.0.0.1:5', cidrs: ['::/0'] }
  assert.deepEqual(at({ listen: ['127.0.0.1:1'], internal }), ['127.0.0.1:1', '127.0.0.1:5'])
  assert.deepEqual(at({ listen: ['127.0.0.1:1'], internal: 'x' }), ['127.0.0.1:1'])
  assert.ok(at({}).includes('127.0.0.1:3478'))
  for (const wrong of [undefined, null, 7]) assert.deepEqual(at(wrong), [])
})
