import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { DtlsConnection } from '../../../../core/index.ts'
import { DtlsLink } from '../../../../plugins/transceiver/dtls-link.ts'
import { IceAgent } from '../../../../plugins/transceiver/ice/agent.ts'
import { dtlsIdentity } from '../../../../plugins/transceiver/peer/dtls-context.ts'
import { type Offer, parseOffer } from '../../../../plugins/transceiver/sdp/offer.ts'
import { randomCredentials, writeOffer } from '../../../peers/offer.ts'
import { OURS, path, THEIRS } from './ice/support.ts'
import { Rig } from './rig.ts'

const HERE = path('203.0.113.5:40000')
const HELLO = Buffer.concat([Buffer.of(22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0), Buffer.of(0, 1, 1)])

/** A link of its own for an offer that is like this besides. */
async function link(changes: Partial<Offer>) {
  const rig = await Rig.open()
  const fingerprint = Array(32).fill('AB').join(':')
  const offer = { ...parseOffer(writeOffer({ ...randomCredentials(), fingerprint })), ...changes }
  const told: string[] = []
  const made = new DtlsLink({
    offer,
    context: dtlsIdentity().context,
    ice: new IceAgent({
      local: OURS,
      remote: THEIRS,
      random: (length) => randomBytes(length),
      handlers: { send() {}, onSelected() {} },
    }),
    socket: rig.socket,
    onBegun: () => told.push('begun'),
    onConnected: () => told.push('connected'),
    onMessage: () => told.push('message'),
    onClosed: (reason, failed) => told.push(`${failed ? 'failed' : 'closed'}: ${reason}`),
  })
  return { made, told, rig }
}

test('an endpoint that cannot be made ends the session, and nothing is thrown', async () => {
  for (const answerSetup of ['passive', 'active'] as const) {
    const { made, told, rig } = await link({ fingerprints: [], answerSetup })
    made.begin(0)
    assert.equal(made.receive(0, HELLO, 0, HELLO.length, HERE), false)
    assert.equal(told[0], 'begun')
    assert.match(told[1]!, /^failed: .*fingerprint/)
    made.close()
    await rig[Symbol.asyncDispose]()
  }
})

test('the server begins with a datagram, the client when it is told to, and neither once it is closed', async () => {
  const before = DtlsConnection.live
  const server = await link({})
  server.made.begin(0)
  assert.deepEqual(server.told, [])
  server.made.receive(0, HELLO, 0, HELLO.length, HERE)
  assert.deepEqual(server.told, ['begun'])
  const client = await link({ answerSetup: 'active' })
  client.made.receive(0, HELLO, 0, HELLO.length, HERE)
  assert.deepEqual(client.told, [])
  client.made.begin(0)
  assert.deepEqual(client.told, ['begun'])
  assert.equal(DtlsConnection.live, before + 2)
  const closed = await link({ answerSetup: 'active' })
  for (const { made, rig } of [server, client, closed]) {
    made.close()
    made.close()
    made.begin(0)
    made.tick(1e9)
    assert.equal(made.receive(0, HELLO, 0, HELLO.length, HERE), false)
    assert.equal(made.write(Buffer.of(1)), false)
    await rig[Symbol.asyncDispose]()
  }
  assert.deepEqual(closed.told, [])
  assert.equal(DtlsConnection.live, before)
})
