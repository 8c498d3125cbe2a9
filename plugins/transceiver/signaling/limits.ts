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
function limitsOf({ keys, ...common }: Limits, { name }: Principal): KeyLimits {
  return { ...common, ...(Object.hasOwn(keys, name) ? keys[name] : {}) }
}

/** Runs in a route's onRequest, after the caller is known; throws EdgeError `rate_limited`, with Retry-After. */
export type RateHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

const MINUTE = 60_000
/** How many callers are remembered; beyond that the one longest unheard of begins anew. */
const REMEMBERED = 10_000
const HIDDEN = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false }

/**
 * Makes the hook that all routes of a listener share. A key is counted by its name, client secrets with the key that made
 * them; who has none, by ip (an IPv6 /64).
 */
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
    keyGenerator: (request) => {
      const { name } = principalOf(request)
      return name === 'anonymous' ? `ip ${rateLimit.normalizeIP(request.ip)}` : `key ${name}`
    },
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

/** How many calls each key has, and whether it may have another. */
export class CallQuota {
  readonly #limits: Limits | undefined
  readonly #calls = new Map<string, number>()

  constructor(limits: Limits | undefined) {
    this.#limits = limits
  }

  /** Throws EdgeError `key_limit_reached` when this key has all its calls. */
  check(caller: Principal): void {
    const most = this.#limits && limitsOf(this.#limits, caller).callsPerKey
    if (most === undefined || (this.#calls.get(caller.name) ?? 0) < most) return
    const calls = most === 1 ? 'one call' : `${most} calls`
    throw new EdgeError(
      'key_limit_reached',
      `This key may have ${calls} at a time. End one, or try again later.`,
    )
  }

  /** A call has begun. */
  take({ name }: Principal): void {
    this.#calls.set(name, (this.#calls.get(name) ?? 0) + 1)
  }

  /** A call has ended. */
  give({ name }: Principal): void {
    const left = (this.#calls.get(name) ?? 0) - 1
    if (left > 0) this.#calls.set(name, left)
    else this.#calls.delete(name)
  }
}
