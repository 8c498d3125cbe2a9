/** What goes through the ring comes out as it was, in order; what has no room is counted, openings first. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Decision, type FlowEvent } from '../../../../../plugins/relay/pure/decision.ts'
import { FlowView, RouteView } from '../../../../../plugins/relay/pure/flow-view.ts'
import { FlowRing } from '../../../../../plugins/relay/threads/flow-ring.ts'
import { at, CLIENT, T1 } from '../simulated-relay.ts'

const RECORDS = 8

function decision(event: FlowEvent, local = 0): Decision {
  const noted = new Decision()
  noted.event = event
  noted.local = local
  noted.client.copy(at(CLIENT))
  noted.transceiver.copy(at(T1))
  noted.session.set([1, 2, 3, 4, 250, 6, 7, 8])
  noted.routeAgeMs = 4_000_000_000
  noted.isIncumbent = true
  noted.cluster = 2
  return noted
}

function ends(): { writer: FlowRing; reader: FlowRing; read(): string[] } {
  const memory = FlowRing.memory(RECORDS)
  const reader = new FlowRing(memory)
  const read = (): string[] => {
    const heard: string[] = []
    reader.read({
      onEvent: (now, { event, local, client, transceiver, session, routeAgeMs, isIncumbent, cluster }) =>
        heard.push(
          [
            now,
            event,
            local,
            client,
            transceiver,
            Buffer.from(session).toString('hex'),
            routeAgeMs,
            isIncumbent,
            cluster,
          ].join(' '),
        ),
      onEnded: (now, flow) => {
        const { client, local, packetsUp, packetsDown, bytesUp, bytesDown, routes, isConfirmed } = flow
        const route = routes[0]!
        heard.push(
          [
            now,
            'ended',
            local,
            client,
            route.transceiver,
            route.state,
            route.ageMs(now),
            packetsUp,
            packetsDown,
            bytesUp,
            bytesDown,
            isConfirmed,
          ].join(' '),
        )
      },
    })
    return heard
  }
  return { writer: new FlowRing(memory), reader, read }
}

test('an event and an end come out as they went in, and the reader is called once for both', () => {
  const { writer, read } = ends()
  const flow = new FlowView()
  flow.client.copy(at('[2001:db8::7]:65535'))
  flow.local = 3
  Object.assign(flow, { packetsUp: 1, packetsDown: 2, bytesUp: 2 ** 40, bytesDown: 4 })
  const route = new RouteView()
  route.transceiver.copy(at(T1))
  route.openedAt = 500
  assert.equal(writer.write(1_000.25, decision('confirmed', 2)), true)
  assert.equal(writer.writeEnd(1_500, flow, route), false)
  assert.deepEqual(read(), [
    `1000.25 confirmed 2 ${CLIENT} ${T1} 01020304fa060708 4000000000 true 2`,
    `1500 ended 3 [2001:db8::7]:65535 ${T1} live 1000 1 2 ${2 ** 40} 4 true`,
  ])
  assert.deepEqual(read(), [])
  assert.equal(writer.write(2_000, decision('refreshed')), true)
})

test('a full ring counts what it leaves out; openings get half of it', () => {
  const { writer, reader, read } = ends()
  for (let n = 0; n < RECORDS; n++) writer.write(n, decision('opened'))
  assert.deepEqual([reader.lost('opened'), reader.lost('confirmed')], [RECORDS / 2, 0])
  for (let n = 0; n < RECORDS; n++) writer.write(n, decision('confirmed'))
  assert.equal(reader.lost('confirmed'), RECORDS / 2)
  assert.equal(read().length, RECORDS)
})

test('goes round and round, and another writer goes on where one stopped', () => {
  const memory = FlowRing.memory(RECORDS)
  const reader = new FlowRing(memory)
  const locals: number[] = []
  for (let n = 0; n < 50; n++) {
    new FlowRing(memory).write(n, decision('refreshed', n))
    if (n % 3 === 0) reader.read({ onEvent: (_now, { local }) => locals.push(local), onEnded: assert.fail })
  }
  reader.read({ onEvent: (_now, { local }) => locals.push(local), onEnded: assert.fail })
  assert.deepEqual(
    locals,
    Array.from({ length: 50 }, (_, n) => n),
  )
})
