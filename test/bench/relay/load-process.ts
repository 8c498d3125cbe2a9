/** The load as a process of its own: it waits for orders over IPC and takes one sample for each. Linux. */

import { libc } from '../../../core/ffi/libc.ts'
import { type Address, parseAddress } from '../../../core/index.ts'
import { SealedCodec } from '../../../plugins/routing-codec/sealed/codec.ts'
import { Requests } from './datagrams.ts'
import { Load } from './load.ts'
import { type Answer, LOAD_KEY, type LoadReady, type Order, type UfragForm } from './load-protocol.ts'

/** Flows that were confirmed this long ago are still there at the end of a sample: they live 30 s. */
const CONFIRMED_MS = 25_000

const load = openLoad()
const { port } = load.transceiver.local
const confirmed = new Map<number, { readonly flows: number; readonly at: number }>()
const requests = new Map<UfragForm, { readonly flows: number; readonly requests: Requests }>()

process.on('message', (order: Order) => process.send?.(take(order)))
process.on('disconnect', () => process.exit(0))
const ready: LoadReady = { transceiver: port }
process.send?.(ready)

function openLoad(): Load {
  const calls = libc()
  if (calls === undefined) throw new Error('there are no system calls for UDP in batches here')
  return new Load(calls)
}

function take(order: Order): Answer {
  const relay = parseAddress(`127.0.0.1:${order.port}`)!
  try {
    confirm(relay, order)
    return { sample: load.measure(relay, order) }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}

function confirm(relay: Address, { flows, form, warmMs, measureMs }: Order): void {
  const now = performance.now()
  const known = confirmed.get(relay.port)
  if (known && known.flows >= flows && now + warmMs + measureMs < known.at + CONFIRMED_MS) return
  load.confirm(relay, flows, requestsFor(form, flows))
  confirmed.set(relay.port, { flows, at: now })
}

/** Made once for the most flows that were asked for. */
function requestsFor(form: UfragForm, flows: number): Requests {
  const known = requests.get(form)
  if (known && known.flows >= flows) return known.requests
  const made = new Requests(flows, form === 'hex' ? hexUfrag : sealedUfrags())
  requests.set(form, { flows, requests: made })
  return made
}

function hexUfrag(): string {
  return `7f000001${port.toString(16).padStart(4, '0')}`
}

function sealedUfrags(): (index: number) => string {
  const codec = new SealedCodec([LOAD_KEY])
  const { local: address } = load.transceiver
  const session = Buffer.alloc(8)
  return (index) => {
    session.writeUInt32BE(index, 4)
    return codec.encode({ cluster: 1, address, session }, 'ufrag')
  }
}
