/**
 * Pipecat's way to restart ICE: a later offer with the call's id as `pc_id`, at either of two transceivers. The client
 * really restarts, and the call goes on: the same session, its audio and its events.
 */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { type Answer, readAnswer } from '../peers/answer.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { randomCredentials } from '../peers/offer.ts'
import { KEYS, memberConfig } from './support/cluster.ts'
import { assertEvents, assertInOrder, assertWhole, Conversation } from './support/conversation.ts'
import { ask, assertRefused, type HttpAnswer } from './support/http.ts'

let owner: TestEdge
let other: TestEdge

before(async () => {
  owner = await startEdge({ config: memberConfig() })
  other = await startEdge({ config: memberConfig() })
})

after(async () => {
  await owner?.close()
  await other?.close()
})

function post(
  edge: TestEdge,
  sdp: string,
  pcId: string | null,
  { restart = false, key = KEYS.alice as string } = {},
): Promise<HttpAnswer> {
  const body = JSON.stringify({ sdp, type: 'offer', pc_id: pcId, restart_pc: restart })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return ask(edge.origin, { method: 'POST', path: '/api/offer', headers, body })
}

/** A call that the owner has. */
async function call(): Promise<{ client: TestClient; id: string }> {
  let id = ''
  const client = await TestClient.connect(async (offer) => {
    const { body } = await post(owner, offer, null)
    const answer = JSON.parse(body)
    id = answer.pc_id
    return { sdp: answer.sdp }
  })
  return { client, id }
}

/** The client's offer with other credentials, as it sends one when it restarts. */
function restarted({ offer }: TestClient) {
  const remote = randomCredentials()
  const sdp = offer
    .replaceAll(/^a=ice-ufrag:.*$/gm, `a=ice-ufrag:${remote.ufrag}`)
    .replaceAll(/^a=ice-pwd:.*$/gm, `a=ice-pwd:${remote.pwd}`)
  return { remote, sdp }
}

/** Restarts at an edge, and waits until the client's checks with the new credentials are answered. */
async function restart(client: TestClient, id: string, edge: TestEdge): Promise<Answer> {
  const { remote, sdp } = restarted(client)
  const { status, body } = await post(edge, sdp, id)
  assert.equal(status, 200, body)
  const { sdp: text, type, pc_id } = JSON.parse(body)
  assert.deepEqual([type, pc_id], ['answer', id])
  const answer = readAnswer(text)
  client.transport.start(remote, answer)
  await eventually('its checks are answered', () => client.transport.checks!.counters.answered > 0)
  return answer
}

describe('a later offer of one peer connection', () => {
  it('restarts ICE in a call that loses nothing, at either transceiver', async () => {
    const { client, id } = await call()
    await using _client = client
    using talk = new Conversation(client)
    await talk.exchange(10)
    const { sessions } = await owner.sessions()
    const ufrags = new Set([client.answer!.ufrag])
    for (const edge of [owner, other, other]) {
      const { ufrag, fingerprint, setup } = await restart(client, id, edge)
      ufrags.add(ufrag)
      assert.deepEqual([fingerprint, setup], [client.answer!.fingerprint, client.answer!.setup])
      await talk.exchange(10)
    }
    assertWhole(await talk.finish())
    assert.equal(ufrags.size, 4)
    const now = await owner.sessions()
    assert.deepEqual(
      now.sessions.map(({ session }) => session),
      sessions.map(({ session }) => session),
    )
    assert.partialDeepStrictEqual(now.bound, { sessions: 1, ufrags: 1 })
    assert.equal((await other.sessions()).total, 0)
    await client.close()
    await owner.untilIdle()
  })

  it('restarts ICE of a client that has gone on from another address', async () => {
    const { client, id } = await call()
    await using _client = client
    using talk = new Conversation(client)
    await talk.exchange(10)
    const before = client.local.toString()
    await client.rebind()
    await restart(client, id, other)
    await talk.exchange(10)
    const account = await talk.finish()
    assertInOrder(account)
    assertEvents(account)
    const [{ client: at } = { client: null }] = (await owner.sessions()).sessions
    assert.equal(at, client.local.toString())
    assert.notEqual(at, before)
    await client.close()
    await owner.untilIdle()
  })

  it('that is answered and then not used leaves the call as it was', async () => {
    const { client, id } = await call()
    await using _client = client
    using talk = new Conversation(client)
    for (const edge of [owner, other]) {
      assert.equal((await post(edge, restarted(client).sdp, id)).status, 200)
      client.transport.checks!.start(performance.now())
      await talk.exchange(5)
    }
    assertWhole(await talk.finish())
    await client.close()
    await owner.untilIdle()
  })

  it('is refused with 501 where the call is another’s, or has ended, or would be another', async () => {
    const { client, id } = await call()
    await using _client = client
    const { sdp } = restarted(client)
    for (const edge of [owner, other]) {
      const refusals = [
        post(edge, sdp, id, { key: KEYS.bob }),
        post(edge, sdp.replace('a=sendrecv', 'a=sendonly'), id),
        post(edge, sdp, `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`),
      ]
      for (const answer of refusals) assertRefused(await answer, 501, 'not_implemented')
    }
    await client.close()
    await owner.untilIdle()
    for (const edge of [owner, other]) assertRefused(await post(edge, sdp, id), 501, 'not_implemented')
  })
})
