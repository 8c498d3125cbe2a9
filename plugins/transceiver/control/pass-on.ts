/**
 * The public side: a request for another owner's call goes to that owner's control port, once, and its answer comes
 * back as it was. Nobody is dialled before the caller is known, and only transceivers of our own cluster inside the
 * operator's CIDRs and ports: a routing key that has leaked makes no port scanner of us.
 */

import type { Span, Tracer } from '@opentelemetry/api'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type Address,
  type AllowedAddresses,
  type CallTracing,
  EdgeError,
  type Route,
  type RoutingCodec,
} from '../../../core/index.ts'
import type { AskedCall } from '../signaling/by-call-id.ts'
import { parseCallId } from '../signaling/call-id.ts'
import { headersToPass } from './headers.ts'
import type { OutcomeCounters } from './outcomes.ts'
import { type OwnerAnswer, type OwnerClient, OwnerFault, type PassedRequest } from './owner-client.ts'
import { endSpan, failSpan, startPassOn, traceparentOf } from './spans.ts'
import type { Splices } from './splices.ts'

/** What passing on stands on. */
export interface PassOnOptions {
  readonly codec: RoutingCodec
  readonly cluster: number
  /** What our own calls' routes say. */
  readonly own: Address
  readonly owners: AllowedAddresses
  readonly client: OwnerClient
  readonly splices: Splices
  readonly counters: OutcomeCounters
  readonly tracer: Tracer
  readonly tracing: CallTracing
  /** Hears of routes of our cluster that lead outside what is allowed. */
  onNotAllowed(owner: Address): void
}

/** Passes requests on to the owners of their calls. */
export class PassOn {
  readonly #o: PassOnOptions

  constructor(options: PassOnOptions) {
    this.#o = options
  }

  /**
   * True when the request was for another owner's call and has been answered; false when it is ours to answer, as it is
   * for every id that leads nowhere. Rejects with EdgeError `owner_unreachable`.
   */
  async passOn(request: FastifyRequest, reply: FastifyReply, { id, caller }: AskedCall): Promise<boolean> {
    const route = this.#elsewhere(id)
    if (!route) return false
    const { tracer, tracing } = this.#o
    const { method, raw } = request
    const body = bytesOf(request.body)
    const span = startPassOn(tracer, tracing, route, method)
    const headers: Record<string, string> = { ...headersToPass(raw.headers), ...traceparentOf(span) }
    if (!request.ws) delete headers.upgrade
    const asked = { method, path: pathOf(raw.url ?? '/'), headers, body, caller }
    const answer = await this.#ask(route.address, asked, span)
    endSpan(span, answer.status)
    this.#give(answer, request, reply)
    return true
  }

  /** The route of a call that another transceiver of our cluster owns, if we may ask it. */
  #elsewhere(id: string): Route | undefined {
    const { codec, cluster, own, owners, counters } = this.#o
    const route = parseCallId(codec, id)?.route
    if (!route || route.cluster !== cluster || route.address.equals(own)) return undefined
    if (owners.has(route.address)) return route
    counters.not_allowed++
    this.#o.onNotAllowed(route.address)
    return undefined
  }

  async #ask(owner: Address, asked: PassedRequest, span: Span): Promise<OwnerAnswer> {
    const { client, counters } = this.#o
    try {
      const answer = await client.ask(owner, asked)
      counters.passed++
      return answer
    } catch (cause) {
      const fault = cause instanceof OwnerFault ? cause : new OwnerFault('unreachable', String(cause), cause)
      counters[fault.outcome]++
      failSpan(span, fault.outcome)
      throw new EdgeError(
        'owner_unreachable',
        'The process that holds this call does not answer. Try again; if it is gone, the call is too.',
        { cause: fault },
      )
    }
  }

  #give(
    { status, headers, body, upgraded }: OwnerAnswer,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    if (!upgraded) {
      reply.code(status).headers(headers)
      reply.send(body)
      return
    }
    reply.hijack()
    this.#o.splices.join(request.raw.socket, upgraded, headers)
  }
}

/** Path and query of a request target: it may be a whole URL (RFC 9112 §3.2.2), which is no path on the control port. */
function pathOf(target: string): string {
  return target.replace(/^https?:\/\/[^/]*/i, '')
}

/** A body as it came: routes by call id take it as bytes. */
function bytesOf(body: unknown): Uint8Array {
  if (body === undefined || body === null) return new Uint8Array(0)
  if (body instanceof Uint8Array) return body
  throw new TypeError('a route by call id must take its body as bytes')
}
