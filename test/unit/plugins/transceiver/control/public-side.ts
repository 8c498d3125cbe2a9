/** The public side of a transceiver that passes requests on: a listener as the host makes it, and ids that name owners. */

import { ROOT_CONTEXT as ROOT, trace } from '@opentelemetry/api'
import type { FastifyInstance } from 'fastify'
import { type Address, type AllowedAddresses, randomBytes } from '../../../../../core/index.ts'
import { SealedCodec } from '../../../../../plugins/routing-codec/sealed/codec.ts'
import { outcomeCounters } from '../../../../../plugins/transceiver/control/outcomes.ts'
import { OwnerClient } from '../../../../../plugins/transceiver/control/owner-client.ts'
import { PassOn } from '../../../../../plugins/transceiver/control/pass-on.ts'
import { Splices } from '../../../../../plugins/transceiver/control/splices.ts'
import type { CallDoor } from '../../../../../plugins/transceiver/signaling/by-call-id.ts'
import { makeCallId } from '../../../../../plugins/transceiver/signaling/call-id.ts'
import { registerCallRoutes } from '../../../../../plugins/transceiver/signaling/call-routes.ts'
import { address } from '../ice/support.ts'
import { authenticate, listener } from '../signaling/support.ts'
import { addRoutes, inside, KEYS, type MoreRoutes, NamedCall } from './support.ts'

const CLUSTER = 3
const codec = new SealedCodec([{ id: 1, key: '00112233445566778899aabbccddeeff' }])

/** An id as the owner at this address makes it. */
export function idAt(owner: Address, cluster = CLUSTER, by = codec): string {
  return makeCallId(by, { cluster, address: owner, session: randomBytes(8) }, randomBytes(16))
}

/** The public side; it is closed at the end of the scope. */
export class PublicSide implements AsyncDisposable {
  readonly calls = new NamedCall()
  readonly counters = outcomeCounters()
  readonly splices = new Splices()
  /** Owners that were named and may not be asked. */
  readonly notAllowed: string[] = []
  readonly http: FastifyInstance
  readonly #client: OwnerClient

  private constructor(http: FastifyInstance, client: OwnerClient) {
    this.http = http
    this.#client = client
  }

  /** `answerMs` is how long owners may take; `routes` adds more by-id routes. */
  static async open(
    options: {
      owners?: AllowedAddresses
      own?: Address
      keys?: typeof KEYS
      answerMs?: number
      routes?: MoreRoutes
    } = {},
  ): Promise<PublicSide> {
    const { own = address('127.0.0.1:9'), keys = KEYS, answerMs, routes } = options
    const { owners = inside('127.0.0.0/8') } = options
    const client = new OwnerClient(keys, answerMs)
    const side = new PublicSide(await listener(), client)
    const tracer = trace.getTracer('test')
    const passing = new PassOn({
      ...{ codec, cluster: CLUSTER, own, owners, client, tracer },
      splices: side.splices,
      counters: side.counters,
      tracing: { root: (_session, name) => tracer.startSpan(name), parent: () => ROOT, isOn: false },
      onNotAllowed: (owner) => void side.notAllowed.push(owner.toString()),
    })
    const door: CallDoor = {
      identify: authenticate,
      passOn: (request, reply, asked) => passing.passOn(request, reply, asked),
    }
    await side.http.register(async (scope) => {
      await registerCallRoutes(scope, { calls: side.calls, door })
      if (routes) await addRoutes(scope, door, routes)
    })
    await side.http.listen({ host: '127.0.0.1', port: 0 })
    return side
  }

  get origin(): string {
    return this.http.listeningOrigin
  }

  /** Where it listens. */
  get listening(): Address {
    return address(new URL(this.origin).host)
  }

  /** Asks about a call as Alice. */
  async ask(
    id: string,
    asked: { method?: string; path?: string; key?: string; body?: string; headers?: object } = {},
  ) {
    const { method = 'GET', path = '', key = 'alice', body, headers } = asked
    const answer = await fetch(`${this.origin}/v1/realtime/calls/${id}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    return { status: answer.status, headers: answer.headers, body: await answer.text() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close()
    this.splices.close()
    await this.http.close()
  }
}
