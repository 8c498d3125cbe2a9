/**
 * The control port of one transceiver, both sides of it: requests for calls of others are passed on to their owners,
 * requests that others pass on are served. Without `control` in the options there is none of it.
 */

import type { FastifyInstance } from 'fastify'
import {
  type Address,
  AllowedAddresses,
  type Context,
  parsePortRange,
  type RoutingCodec,
} from '../../../core/index.ts'
import type { CallDoor } from '../signaling/by-call-id.ts'
import { passedCaller } from './admission.ts'
import type { ControlListener } from './listener.ts'
import type { ControlOptions } from './options.ts'
import { observeOutcomes, outcomeCounters } from './outcomes.ts'
import { OwnerClient } from './owner-client.ts'
import { PassOn } from './pass-on.ts'
import { ControlKeys } from './signature.ts'
import { Splices } from './splices.ts'

/** How often a route that leads outside of what is allowed is told of, in milliseconds. */
const WARN_EVERY_MS = 60_000

const ALONE =
  'without "control" in the options, a request about a call (its hang-up, say) is served by the transceiver that has the call, and by no other'
const OUTSIDE =
  'this transceiver is outside its own "control.allow": where the others have the same list, they pass nothing on to it'
const NOT_ALLOWED =
  'a call id names an owner that "control.allow" does not have: add it there, or, if it is none of yours, replace the routing keys, which somebody else holds'

/** What control stands on. */
export interface ControlSetup {
  readonly context: Context
  readonly codec: RoutingCodec
  /** Where others find this transceiver: what its own calls' routes say. */
  readonly own: Address
  /** Adds the routes by call id, behind a door. */
  register(scope: FastifyInstance, door: CallDoor): Promise<void>
}

/**
 * Serves the port, and returns how requests get through others' to the owners of their calls: `passOn` for the public
 * listener's door. Without `control` in the options neither is there, and that is said once where it may matter.
 */
export async function startControl(
  listener: ControlListener | undefined,
  options: ControlOptions | undefined,
  setup: ControlSetup,
): Promise<CallDoor['passOn']> {
  const { context, codec, own, register } = setup
  const { tracer, tracing, log } = context
  const counters = outcomeCounters()
  observeOutcomes(context.meter, counters)
  if (!listener || !options) {
    if (!own.isLoopback) log.info(ALONE)
    return undefined
  }
  const keys = new ControlKeys(options.keys)
  const owners = new AllowedAddresses(options.allow.cidrs, parsePortRange(options.allow.ports)!)
  const client = new OwnerClient(keys)
  const splices = new Splices()
  context.onClose(() => {
    client.close()
    splices.close()
  })
  if (!owners.has(own)) log.warn({ own }, OUTSIDE)
  await listener.serve({
    ...{ keys, owners, counters, tracer, log },
    bodyLimit: context.http.initialConfig.bodyLimit ?? 65_536,
    register: (scope) => register(scope, { identify: passedCaller }),
  })
  const { cluster } = context.node
  const shared = { codec, cluster, own, owners, client, splices, counters, tracer, tracing }
  const passing = new PassOn({ ...shared, onNotAllowed: warnNowAndThen(context) })
  return (request, reply, asked) => passing.passOn(request, reply, asked)
}

function warnNowAndThen({ log }: Context): (owner: Address) => void {
  let quietUntil = 0
  return (owner) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + WARN_EVERY_MS
    log.warn({ owner }, NOT_ALLOWED)
  }
}
