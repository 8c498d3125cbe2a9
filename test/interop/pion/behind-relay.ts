/**
 * Pion, which knows nothing of relays, behind one with framing `nat`: by a ufrag that the codec made (SetICECredentials),
 * and by ufrags of its own. `npm run test:pion`; skipped aloud where Go or Pion is missing.
 */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress } from '../../../core/index.ts'
import { SealedCodec } from '../../../plugins/routing-codec/sealed/codec.ts'
import { TestClient } from '../../peers/client.ts'
import { startEdge } from '../../peers/edge.ts'
import { freePort } from '../../peers/free-port.ts'
import { converseWith, natRelay, ROUTING_KEY, throughRelay, withoutCandidates } from '../nat-relay.ts'
import { buildPion, Pion } from './server.ts'

const built = buildPion()
const program = 'program' in built ? built.program : ''

describe('Pion behind a relay', { skip: 'missing' in built ? built.missing : false, timeout: 60_000 }, () => {
  it('with a ufrag that the codec made, by its route', async () => {
    const port = await freePort()
    const server = `127.0.0.1:${port}`
    const route = { cluster: 1, address: parseAddress(server)!, session: Buffer.alloc(8, 3) }
    const ufrag = new SealedCodec([ROUTING_KEY]).encode(route, 'ufrag')
    await using relay = await startEdge({ config: natRelay(port, undefined) })
    await using client = await TestClient.open()
    const credentials = { ufrag, pwd: 'b'.repeat(24) }
    using pion = await Pion.start(program, port, withoutCandidates(client.offer), credentials)
    assert.ok(pion.answer.includes(`a=ice-ufrag:${ufrag}`))
    client.accept({ sdp: throughRelay(relay, pion.answer) })
    await client.connected()
    await converseWith(client, relay, server)
  })

  it('with ufrags of its own, by defaultUpstream', async () => {
    const port = await freePort()
    const server = `127.0.0.1:${port}`
    await using relay = await startEdge({ config: natRelay(port, server) })
    await using client = await TestClient.open()
    using pion = await Pion.start(program, port, withoutCandidates(client.offer))
    client.accept({ sdp: throughRelay(relay, pion.answer) })
    await client.connected()
    await converseWith(client, relay, server)
  })
})
