/** The sockets between relays, as threads share and divide them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EdgeError, type ThreadUdp } from '../../../../core/index.ts'
import { flat, openThreadClusterSockets } from '../../../../plugins/relay/cluster-sockets.ts'
import { at } from './simulated-relay.ts'

const OPTIONS = {
  upstream: '10.9.0.4:3480',
  spread: '10.9.0.4:3500',
  clusters: { 2: '10.2.0.4:3490' },
  internal: { listen: '10.9.0.4:3490', cidrs: ['10.0.0.0/8'] },
}
const INTERNAL = OPTIONS.internal.listen

/** A kernel that gives out every address but one, and notes what is open: its address, and whether it joined others. */
function kernel(taken = '') {
  const open = new Set<string>()
  let sockets = 0
  const udp: ThreadUdp = {
    cpus: [],
    control: () => assert.fail('no thread starts'),
    open(address, { reusePort }) {
      if (String(address) === taken) throw new EdgeError('address_in_use', taken)
      const name = `${address} ${reusePort ? 'joins' : 'alone'} ${sockets++}`
      open.add(name)
      return {
        local: at(String(address)),
        counters: { received: 0, sent: 0, truncated: 0, receiveErrors: 0, sendErrors: 0 },
        shared: { fd: 0, isIPv4: true, batch: new SharedArrayBuffer(0), counters: new SharedArrayBuffer(0) },
        share: () => {},
        close: () => void open.delete(name),
      }
    },
  }
  return { udp, open: () => [...open].map((name) => name.replace(/ \d+$/, '')) }
}

const ports = (sockets: readonly { readonly local: { readonly port: number } }[]): number[] =>
  sockets.map(({ local }) => local.port)

test('each thread has its own of the 16 ports, and all have the address that relays send to', () => {
  const { udp, open } = kernel()
  const workers = openThreadClusterSockets(udp, OPTIONS, 3)
  assert.deepEqual(
    workers.map(({ spread }) => ports(spread)),
    [
      [3500, 3503, 3506, 3509, 3512, 3515],
      [3501, 3504, 3507, 3510, 3513],
      [3502, 3505, 3508, 3511, 3514],
    ],
  )
  assert.deepEqual(
    workers.map(({ internal }) => String(internal?.local)),
    [INTERNAL, INTERNAL, INTERNAL],
  )
  assert.deepEqual(
    open().filter((name) => name.startsWith(INTERNAL)),
    [`${INTERNAL} alone`, `${INTERNAL} joins`, `${INTERNAL} joins`],
  )
  assert.equal(open().filter((name) => name.endsWith('joins')).length, 2, 'nobody shares a port of the 16')
  for (const socket of workers.flatMap(flat)) socket.close()
  assert.deepEqual(open(), [])
})

test('more threads than ports have one each, and without a port given each is any', () => {
  const many = openThreadClusterSockets(kernel().udp, OPTIONS, 20)
  assert.deepEqual(
    many.map(({ spread }) => ports(spread)),
    Array.from({ length: 20 }, (_, thread) => [3500 + thread]),
  )
  const { upstream, clusters } = OPTIONS
  const { udp, open } = kernel()
  openThreadClusterSockets(udp, { upstream, clusters }, 2)
  assert.deepEqual(open(), Array(16).fill('10.9.0.4:0 alone'))
})

test('none where there are no other clusters', () => {
  const { udp, open } = kernel()
  const [worker] = openThreadClusterSockets(udp, { upstream: OPTIONS.upstream }, 1)
  assert.deepEqual([worker, open()], [{ internal: undefined, spread: [] }, []])
})

for (const taken of ['10.9.0.4:3511', INTERNAL]) {
  test(`all of them or none: ${taken} is another's`, () => {
    const { udp, open } = kernel(taken)
    assert.throws(() => openThreadClusterSockets(udp, OPTIONS, 2), { code: 'address_in_use' })
    assert.deepEqual(open(), [])
  })
}
