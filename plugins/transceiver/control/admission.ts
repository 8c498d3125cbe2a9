/**
 * Who gets through the control port: requests that a key of the cluster has signed just now, each once, with the body
 * that was signed. Everything else gets 401 without a word. What is answered is signed in turn.
 */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Span, Tracer } from '@opentelemetry/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError, type Principal } from '../../../core/index.ts'
import { ANSWER_HEADERS, pickHeaders, REQUEST_HEADERS } from './headers.ts'
import { Nonces } from './nonces.ts'
import type { OutcomeCounters } from './outcomes.ts'
import { PROOF } from './owner-client.ts'
import { type ControlKeys, digest, type Verified } from './signature.ts'
import { endSpan, startServe } from './spans.ts'

/** What admission stands on. */
export interface AdmissionOptions {
  readonly keys: ControlKeys
  readonly counters: OutcomeCounters
  readonly tracer: Tracer
}

const NOTHING = new Uint8Array(0)

/** What is known of a request that was let in. */
interface Admitted {
  readonly proof: Verified
  readonly span: Span
  isFinished?: boolean
}

const admitted = new WeakMap<IncomingMessage, Admitted>()

/** Who asks, by the word of the transceiver that passed the request on. Throws EdgeError `unauthorized`. */
export function passedCaller(request: FastifyRequest): Principal {
  const caller = admitted.get(request.raw)?.proof.caller
  if (!caller) throw new EdgeError('unauthorized', 'this request was not passed on by a transceiver')
  return caller
}

/** The hooks of the control listener. */
export class Admission {
  readonly #o: AdmissionOptions
  readonly #onAdmitted: (connection: Socket) => void
  readonly #nonces = new Nonces()

  /** `onAdmitted` is told of each connection that a signed request came on. */
  constructor(options: AdmissionOptions, onAdmitted: (connection: Socket) => void) {
    this.#o = options
    this.#onAdmitted = onAdmitted
  }

  /** Adds the hooks; routes that are registered afterwards, and paths that are none, stand behind them. */
  guard(instance: FastifyInstance): void {
    instance.addHook('onRequest', async (request, reply) => {
      if (!this.#admit(request)) return this.#refuse(request, reply)
    })
    instance.addHook('preHandler', async (request, reply) => {
      const body = request.body instanceof Uint8Array ? request.body : NOTHING
      if (admitted.get(request.raw)?.proof.body !== digest(body)) return this.#refuse(request, reply)
    })
    instance.addHook('onSend', async (request, reply, payload) => {
      const proof = admitted.get(request.raw)?.proof
      const bytes = bytesOf(payload)
      if (proof && bytes) {
        const headers = pickHeaders(reply.getHeaders(), ANSWER_HEADERS)
        reply.header(PROOF, proof.sign({ status: reply.statusCode, headers, body: digest(bytes) }))
      }
      return payload
    })
    instance.addHook('onResponse', async (request, reply) => this.#finish(request.raw, reply.statusCode))
    instance.websocketServer.on('headers', (lines, request) => this.#signUpgrade(lines, request))
  }

  #admit({ raw, method }: FastifyRequest): boolean {
    const headers = pickHeaders(raw.headers, REQUEST_HEADERS)
    const now = Date.now()
    const proof = this.#o.keys.verify(
      raw.headers.authorization,
      { method, path: raw.url ?? '', headers },
      now,
    )
    if (!proof || !this.#nonces.take(proof.nonce, now)) return false
    this.#onAdmitted(raw.socket)
    admitted.set(raw, { proof, span: startServe(this.#o.tracer, headers.traceparent, method) })
    return true
  }

  #refuse({ raw }: FastifyRequest, reply: FastifyReply): FastifyReply {
    this.#o.counters.refused++
    admitted.get(raw)?.span.end()
    admitted.delete(raw)
    return reply.code(401).header('connection', 'close').send()
  }

  #signUpgrade(lines: string[], request: IncomingMessage): void {
    const proof = admitted.get(request)?.proof
    if (!proof) return
    const headers = pickHeaders(fieldsOf(lines), ANSWER_HEADERS)
    lines.push(`${PROOF}: ${proof.sign({ status: 101, headers, body: digest(NOTHING) })}`)
    this.#finish(request, 101)
  }

  #finish(request: IncomingMessage, status: number): void {
    const entry = admitted.get(request)
    if (!entry || entry.isFinished) return
    entry.isFinished = true
    this.#o.counters.served++
    endSpan(entry.span, status)
  }
}

/** The fields of a head, its first line left out. */
function fieldsOf(lines: readonly string[]): Record<string, string> {
  const fields = lines.slice(1).map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return Object.fromEntries(fields)
}

function bytesOf(payload: unknown): Uint8Array | undefined {
  if (payload === undefined || payload === null) return NOTHING
  if (typeof payload === 'string') return Buffer.from(payload)
  return payload instanceof Uint8Array ? payload : undefined
}
