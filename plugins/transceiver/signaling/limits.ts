/** How much one key may ask for: requests a minute, counted here, and calls at a time, counted by `CallQuota`. */

import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EdgeError, type Principal } from '../../../core/index.ts'

/** What one key may do. */
export interface KeyLimits {
  /** Calls at a time; undefined for as many as there are lines. */
  readonly callsPerKey?: number
  readonly requestsPerMinute: number
}

/** The limits of every key, and of those that have their own. */
export interface Limits extends KeyLimits {
  readonly keys: Readonly<Record<string, Partial<KeyLimits>>>
}

/** The limits of one principal. */
function limitsOf({ keys, ...common }: Limits, { name, ip }: Principal): KeyLimits {
  return { ...common, ...(ip === undefined && Object.hasOwn(keys, name) ? keys[name] : {}) }
}

/** Whom a principal counts as: a key by its name, client secrets with it; who has none by ip (an IPv6 /64). */
function countedAs({ name, ip }: Principal): string {
  return ip === undefined ? `key ${name}` : `ip ${rateLimit.normalizeIP(ip)}`
}

/** Runs in a route's onRequest, after the caller is known; throws EdgeError `rate_limited`, with Retry-After. */
export type RateHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

const MINUTE = 60_000
/** How many callers are remembered; beyond that the one longest unheard of begins anew. */
const REMEMBERED = 10_000
const HIDDEN = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false }

/** Makes the hook that all routes of a listener share. */
export async function limitRates(
  http: FastifyInstance,
  limits: Limits,
  principalOf: (request: FastifyRequest) => Principal,
): Promise<RateHook> {
  await http.register(rateLimit, {
    global: false,
    timeWindow: MINUTE,
    cache: REMEMBERED,
    max: (request) => limitsOf(limits, principalOf(request)).requestsPerMinute,
    keyGenerator: (request) => countedAs(principalOf(request)),
    addHeaders: HIDDEN,
    addHeadersOnExceeding: HIDDEN,
    errorResponseBuilder: (_request, { max }) =>
      new EdgeError('rate_limited', `More than ${max} requests in a minute. Try again a little later.`),
  })
  const hook = http.rateLimit()
  return async (request, reply) => {
    await hook.call(http, request, reply)
  }
}

/** How many calls each key or ip has, and whether it may have another. */
export class CallQuota {
  readonly #limits: Limits | undefined
  readonly #calls = new Map<string, number>()

  constructor(limits: Limits | undefined) {
    this.#limits = limits
  }

  /** Throws EdgeError `key_limit_reached` when this caller has all its calls. */
  check(caller: Principal): void {
    const most = this.#limits && limitsOf(this.#limits, caller).callsPerKey
    if (most === undefined || (this.#calls.get(countedAs(caller)) ?? 0) < most) return
    const calls = most === 1 ? 'one call' : `${most} calls`
    const who = caller.ip === undefined ? 'key' : 'address'
    throw new EdgeError(
      'key_limit_reached',
      `This ${who} may have ${calls} at a time. End one, or try again later.`,
    )
  }

  /** A call has begun. */
  take(caller: Principal): void {
    const counted = countedAs(caller)
    this.#calls.set(counted, (this.#calls.get(counted) ?? 0) + 1)
  }

  /** A call has ended. */
  give(caller: Principal): void {
    const counted = countedAs(caller)
    const left = (this.#calls.get(counted) ?? 0) - 1
    if (left > 0) this.#calls.set(counted, left)
    else this.#calls.delete(counted)
  }
}
