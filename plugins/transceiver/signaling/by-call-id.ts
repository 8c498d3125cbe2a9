/**
 * What every route by call id has in common: who asks, and whether the call is another process's.
 *
 * Such a route is registered twice: on the public listener, whose door passes a request for another owner's call on to that
 * owner, and on the owner's control listener, whose door passes nothing on.
 */

import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { EdgeError, type Principal } from '../../../core/index.ts'
import { type CallService, callNotFound } from './call-service.ts'
import type { RateHook } from './limits.ts'

/** The decorator of a request that holds who asks. */
export const CALLER = 'caller'

/** A request by call id whose caller is known. */
export interface AskedCall {
  /** As it was sent; unread. */
  readonly id: string
  readonly caller: Principal
}

/** What differs between the listeners that serve the routes. */
export interface CallDoor {
  /** Who asks; runs before anything of the body is read. Throws EdgeError `unauthorized`. */
  identify(request: FastifyRequest): Principal | Promise<Principal>
  /** Refuses who asks too often, once they are known. */
  readonly limit?: RateHook
  /**
   * Passes the request on if another process owns the call; resolves true when it has been answered so. Rejects with
   * EdgeError `owner_unreachable`.
   */
  passOn?(request: FastifyRequest, reply: FastifyReply, asked: AskedCall): Promise<boolean>
}

/** What the routes stand on. */
export interface CallRoutesOptions {
  readonly calls: CallService
  readonly door: CallDoor
}

/** The hooks of a route by call id, for its Fastify options: who asks, then whose call it is. */
export function byCallId(
  door: CallDoor,
  idOf: (request: FastifyRequest) => string | undefined = idInPath,
): {
  onRequest: ((request: FastifyRequest, reply: FastifyReply) => Promise<void>)[]
  preHandler: preHandlerAsyncHookHandler
} {
  return {
    onRequest: [
      async (request) => request.setDecorator(CALLER, await door.identify(request)),
      ...(door.limit ? [door.limit] : []),
    ],
    async preHandler(request, reply) {
      const id = idOf(request)
      if (id !== undefined && (await door.passOn?.(request, reply, { id, caller: callerOf(request) })))
        return reply
    },
  }
}

/** Who asks, in a route with the hooks of `byCallId`, or of `askWho`. */
export function callerOf(request: FastifyRequest): Principal {
  return request.getDecorator<Principal>(CALLER)
}

function idInPath({ params }: FastifyRequest): string | undefined {
  const isKnown = typeof params === 'object' && params !== null && 'id' in params
  return isKnown && typeof params.id === 'string' ? params.id : undefined
}

/** Whatever the service says of a call that is not there, it is said in the same words. */
export function alike<T>(ask: () => T): T {
  try {
    return ask()
  } catch (error) {
    throw error instanceof EdgeError && error.code === 'call_not_found' ? callNotFound() : error
  }
}

/** An onRequest hook: Fastify refuses a Content-Type that is empty, as Go sends it, or no media type, whatever parser there is for all. */
export async function forgetType(request: FastifyRequest): Promise<void> {
  delete request.raw.headers['content-type']
}
