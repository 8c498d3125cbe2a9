/**
 * A global relay before a cluster's own, between clients that number what they send and a transceiver that sends it
 * back: nothing may be missing, whichever of the relays' threads dies.
 */

import type { Socket } from 'node:dgram'
import { type Address, type FrameKey, parseAddress } from '../../../core/index.ts'
import { eventually } from '../../../core/testing/check.ts'
import { pluginContext } from '../../../core/testing/plugin-context.ts'
import { type NameLookUp, type Relay, startRelay } from '../../../plugins/relay/relay.ts'
import { freePort } from '../../peers/free-port.ts'
import { burstSocket, EchoClient, echoFrom } from './echo-rig.ts'
import { oneRoute } from './one-route-codec.ts'
import { bound, type Way } from './relay-ways.ts'

const BASE = {
  listen: ['127.0.0.1:0'],
  upstream: '127.0.0.1:0',
  allow: { cidrs: ['127.0.0.0/8'], ports: '1-65535' },
  maxFlows: 1024,
}

/** How a relay of these tests works: where, and with which keys for its frames. */
export interface RelayWay {
  readonly way: Way
  readonly keys?: readonly FrameKey[]
}

/** A relay that leads every ufrag to the relay of cluster 1. */
export function startGlobal({ way, keys }: RelayWay, relay: string, names?: NameLookUp): Promise<Relay> {
  const { context } = pluginContext({
    udp: way.udp,
    node: { cluster: 9, advertise: undefined, reachable: false },
  })
  const options = { ...BASE, ...way.options, ...framingOf(keys), clusters: { 1: relay } }
  const codec = oneRoute(parseAddress('192.0.2.1:9')!)
  return startRelay(options, { codec, recovery: undefined }, context, 8, names)
}

/** The relay of cluster 1, all of whose ufrags lead to one transceiver. */
export async function startCluster({ way, keys }: RelayWay, transceiver: Address): Promise<Relay & Internal> {
  const { context } = pluginContext({ udp: way.udp })
  const internal = parseAddress(`127.0.0.1:${await freePort()}`)!
  const hears = { listen: String(internal), cidrs: ['127.0.0.1/32'] }
  const options = { ...BASE, ...way.options, ...framingOf(keys), internal: hears }
  const relay = await startRelay(options, { codec: oneRoute(transceiver), recovery: undefined }, context, 7)
  return { ...relay, internal }
}

interface Internal {
  readonly internal: Address
}

function framingOf(keys: RelayWay['keys']) {
  return keys ? { framing: { mac: { keys: [...keys] } } } : {}
}

/** The parts. */
export class GlobalRig implements AsyncDisposable {
  readonly global: Relay
  readonly cluster: Relay
  readonly #sockets: Socket[]

  private constructor(global: Relay, cluster: Relay, sockets: Socket[]) {
    this.global = global
    this.cluster = cluster
    this.#sockets = sockets
  }

  static async open(how: RelayWay): Promise<GlobalRig> {
    const echo = await burstSocket()
    const cluster = await startCluster(how, echoFrom(echo, how.keys))
    return new GlobalRig(await startGlobal(how, String(cluster.internal)), cluster, [echo])
  }

  /** A client whose check has been answered. */
  async client(): Promise<EchoClient> {
    const udp = await burstSocket()
    this.#sockets.push(udp)
    const client = new EchoClient(udp, bound(this.global, 0).local)
    client.check()
    await eventually('the check is answered', () => client.answers === 1)
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.global.close(), this.cluster.close()])
    for (const udp of this.#sockets) udp.close()
  }
}
