/** An owner's control port with one call, Alice's, and requests to it that are signed, or not. */

import { randomBytes } from 'node:crypto'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { trace } from '@opentelemetry/api'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { type Address, AllowedAddresses, type Principal } from '../../../../../core/index.ts'
import { passedCaller } from '../../../../../plugins/transceiver/control/admission.ts'
import { type ControlLimits, ControlListener } from '../../../../../plugins/transceiver/control/listener.ts'
import { type OutcomeCounters, outcomeCounters } from '../../../../../plugins/transceiver/control/outcomes.ts'
import { ControlKeys, digest } from '../../../../../plugins/transceiver/control/signature.ts'
import type { CallDoor } from '../../../../../plugins/transceiver/signaling/by-call-id.ts'
import { CALLER } from '../../../../../plugins/transceiver/signaling/by-call-id.ts'
import { registerCallRoutes } from '../../../../../plugins/transceiver/signaling/call-routes.ts'
import type { CallDescription } from '../../../../../plugins/transceiver/signaling/call-service.ts'
import { address } from '../ice/support.ts'
import { ID, OneCall } from '../signaling/support.ts'

export const SECRET = 'what the transceivers of this cluster share'
export const KEYS = new ControlKeys([SECRET])
export const BODY_LIMIT = 4096

/** Everything inside this CIDR may be asked, at one port or at any, and may ask. */
export const inside = (cidr: string, port?: number): AllowedAddresses =>
  new AllowedAddresses([cidr], { first: port ?? 1, last: port ?? 65_535 })

/** The path of the one call on the control port. */
export const CALL = `/control/v1/realtime/calls/${ID}`

/** The one call under another id. */
export class NamedCall extends OneCall {
  /** How often anybody asked. */
  times = 0
  #id = ID

  /** From now on the call has this id. */
  holds(id: string): string {
    this.#id = id
    return id
  }

  override describe(id: string, caller: Principal): CallDescription {
    this.times++
    return { ...super.describe(id === this.#id ? ID : 'another', caller), id }
  }
}

/** More routes by call id. */
export type MoreRoutes = (scope: FastifyInstance, door: CallDoor) => void

/** Adds routes in a scope like that of the routes by call id. */
export async function addRoutes(http: FastifyInstance, door: CallDoor, routes: MoreRoutes): Promise<void> {
  await http.register(async (scope) => {
    scope.decorateRequest(CALLER, null)
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    routes(scope, door)
  })
}

/** An owner; it is closed at the end of the scope. */
export class Owner implements AsyncDisposable {
  readonly calls: NamedCall
  readonly counters: OutcomeCounters
  readonly listener: ControlListener

  private constructor(calls: NamedCall, counters: OutcomeCounters, listener: ControlListener) {
    this.calls = calls
    this.counters = counters
    this.listener = listener
  }

  /** `routes` adds more of them. */
  static async open(
    options: {
      owners?: AllowedAddresses
      limits?: Partial<ControlLimits>
      keys?: ControlKeys
      routes?: MoreRoutes
    } = {},
  ): Promise<Owner> {
    const { owners = inside('127.0.0.0/8'), limits, keys = KEYS, routes } = options
    const calls = new NamedCall()
    const counters = outcomeCounters()
    const door: CallDoor = { identify: passedCaller }
    const listener = await ControlListener.bind(address('127.0.0.1:0'), limits)
    await listener.serve({
      ...{ owners, keys, counters, bodyLimit: BODY_LIMIT },
      tracer: trace.getTracer('test'),
      log: pino({ level: 'silent' }),
      async register(scope) {
        await registerCallRoutes(scope, { calls, door })
        if (routes) await addRoutes(scope, door, routes)
      },
    })
    return new Owner(calls, counters, listener)
  }

  get local(): Address {
    return this.listener.local
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.listener.close()
  }
}

/** What to ask of a control port. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** The same with a signature; `caller` is Alice unless named. */
export function signed(
  asked: Partial<Asked>,
  parts: { caller?: Principal; nonce?: string; time?: number; keys?: ControlKeys } = {},
): Asked {
  const whole = { method: 'GET', path: CALL, headers: {}, body: '', ...asked }
  const { caller = { name: 'alice' }, nonce = newNonce(), time = Date.now(), keys = KEYS } = parts
  const body = digest(Buffer.from(whole.body))
  const authorization = keys.sign({ ...whole, body, caller, nonce, time })
  return { ...whole, headers: { ...whole.headers, authorization } }
}

/** A nonce that was not used yet. */
export function newNonce(): string {
  return randomBytes(16).toString('base64url')
}

/** Asks, and reads the answer. */
export async function ask(
  to: Address,
  { method, path, headers, body }: Asked,
): Promise<{ status: number; headers: IncomingMessage['headers']; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const asked = httpRequest(
    { host: to.host, port: to.port, method, path, headers: { ...headers, ...length }, agent: false },
    resolve,
  )
  asked.on('error', reject)
  asked.end(body)
  const answer = await promise
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) }
}

/** Sends bytes and resolves with all that came back, once the other side has closed. */
export async function tell(to: Address, bytes: string | Buffer): Promise<string> {
  const socket = connect(to.port, to.host)
  socket.on('error', () => {})
  socket.write(bytes)
  return text(socket).catch(() => '')
}
