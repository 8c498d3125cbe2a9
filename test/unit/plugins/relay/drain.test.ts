/** The relay's drain beside transceivers of its own process, and of others. */

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type RoutingCodec, SPP_LENGTH, type UdpPort, writeSpp } from '../../../../core/index.ts'
import { type PluginContext, pluginContext } from '../../../../core/testing/plugin-context.ts'
import relayPlugin from '../../../../plugins/relay/index.ts'
import { bindingRequest } from '../../../stun-bytes.ts'
import { at, CLIENT, SUCCESS } from './simulated-relay.ts'

const PUBLIC = at('203.0.113.10:3478')
const INTERNAL = at('10.0.0.4:3480')
const OWN = at('10.0.0.4:3479')
const OTHER = at('10.0.0.5:3479')

/** Two calls: `own`, whose transceiver is in this process, and `other`. */
const codec: RoutingCodec = {
  encode: () => 'own1',
  decode(text, start, end) {
    const name = Buffer.from(text.subarray(start, end)).toString()
    return { cluster: 1, address: name === 'own1' ? OWN : OTHER, session: Buffer.from('session1') }
  },
}

let host: PluginContext
let own: UdpPort
let other: UdpPort
let client: UdpPort

beforeEach(async () => {
  host = pluginContext()
  const { ingress } = await relayPlugin.setup(
    {
      ...{ listen: [String(PUBLIC)], upstream: String(INTERNAL), maxFlows: 64, framing: 'spp' },
      allow: { cidrs: ['10.0.0.0/24'], ports: '3479' },
      ...{ workers: 'auto', pin: true, segments: false, coalesceMicroseconds: 0 },
    },
    { codec, recovery: undefined },
    host.context,
  )
  ingress.closesFirst(OWN)
  const open = (address: typeof OWN): Promise<UdpPort> =>
    host.network.engine.open({ address, onDatagram() {} })
  own = await open(OWN)
  other = await open(OTHER)
  client = await open(at(CLIENT))
})

afterEach(() => host.close())

const waits = (): boolean => host.logs.some(({ msg }) => /until its calls fall silent/.test(String(msg)))
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A flow is opened and confirmed. */
async function call(ufrag: string, transceiver: UdpPort): Promise<void> {
  const check = bindingRequest(`${ufrag}:client`)
  client.send(check, 0, check.length, PUBLIC)
  await settled()
  const answer = Buffer.concat([Buffer.alloc(SPP_LENGTH), SUCCESS])
  writeSpp(answer, 0, at(CLIENT), PUBLIC)
  transceiver.send(answer, 0, answer.length, INTERNAL)
  await settled()
}

describe('a relay that drains', () => {
  it('does not wait for calls of transceivers in its own process, which close first', async () => {
    await call('own1', own)
    await host.drain(new AbortController().signal)
    assert.ok(!waits())
  })

  it('waits for those of others', async () => {
    await call('other', other)
    const over = new AbortController()
    const drained = host.drain(over.signal)
    assert.ok(waits())
    over.abort()
    await drained
  })
})
