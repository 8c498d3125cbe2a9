/** Attacks with bytes that are none of ours. */

import { createSocket } from 'node:dgram'
import { SPP_LENGTH, writeSpp } from '../../../core/index.ts'
import { eventually } from '../../../core/testing/check.ts'
import type { Attack } from './attack.ts'
import { SUCCESS } from './attack-stage.ts'
import { bound } from './relay-ways.ts'

/** With bytes that are none of ours. */
export const ON_BYTES: readonly Attack[] = [
  {
    name: 'framing on a public socket',
    drops: { framing: 1 },
    async run(stage) {
      const client = await stage.client()
      const datagram = Buffer.concat([Buffer.alloc(SPP_LENGTH), SUCCESS])
      writeSpp(datagram, 0, client.local, stage.front)
      client.send(datagram)
    },
  },
  {
    name: 'first bytes beside those of media (relay 13)',
    drops: { unknown_protocol: 5 },
    async run(stage) {
      const [one] = stage.transceivers
      const client = await stage.client()
      await stage.connect(client, one, stage.ufrag(one.local))
      for (const first of [4, 64, 127, 192, 255]) client.send(Buffer.alloc(60, first))
      for (const first of [20, 63, 128, 191]) {
        client.send(Buffer.alloc(60, first))
        await one.got(Buffer.alloc(60, first))
      }
    },
  },
  {
    name: 'truncated datagrams',
    drops: { malformed_stun: 3, bad_frame: 2 },
    async run(stage) {
      const [one] = stage.transceivers
      const client = await stage.client()
      const frame = await stage.connect(client, one, stage.ufrag(one.local))
      const check = stage.check(stage.ufrag(one.local))
      client.send(check.subarray(0, 19))
      client.send(check.subarray(0, check.length - 4))
      one.say(frame, SUCCESS.subarray(0, 19))
      const framed = Buffer.alloc(SPP_LENGTH)
      writeSpp(framed, 0, frame.client, frame.proxy)
      one.sayBare(frame.via, framed.subarray(0, SPP_LENGTH - 1))
      one.sayBare(frame.via, framed.subarray(0, 1))
    },
  },
  {
    name: 'oversized datagrams',
    drops: { oversize: 2 },
    async run(stage) {
      const { relay, front } = stage
      const { local } = relay.workers[0]!.sockets.upstream
      const counted = (): number[] => [
        bound(relay, 0).counters().truncated,
        relay.workers[0]!.sockets.upstream.counters.truncated,
      ]
      const [before, beforeUpstream] = counted()
      const plain = createSocket('udp4')
      for (const length of [2_011, 2_048, 2_049, 9_000]) {
        plain.send(Buffer.alloc(length, 0x80), front.port, front.host)
      }
      plain.send(Buffer.alloc(9_000, 0x56), local.port, local.host)
      await eventually('what did not fit is counted', () => {
        const [now, nowUpstream] = counted()
        return now === before! + 2 && nowUpstream === beforeUpstream! + 1
      })
      plain.close()
    },
  },
  {
    name: 'empty datagrams',
    drops: { empty: 2, bad_frame: 1 },
    async run(stage) {
      const [one] = stage.transceivers
      const client = await stage.client()
      const frame = await stage.connect(client, one, stage.ufrag(one.local))
      client.send(Buffer.alloc(0))
      one.say(frame, Buffer.alloc(0))
      one.sayBare(frame.via, Buffer.alloc(0))
    },
  },
]
