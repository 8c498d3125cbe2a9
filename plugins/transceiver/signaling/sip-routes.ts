/** What OpenAI's API does with calls by SIP alone: `accept`, `refer`, `reject`. There are none here: 501. */

import type { FastifyInstance } from 'fastify'
import { EdgeError } from '../../../core/index.ts'
import { byCallId, type CallRoutesOptions, forgetType } from './by-call-id.ts'
import { refuseOtherMethods } from './other-methods.ts'

const ACTIONS = ['accept', 'refer', 'reject'] as const

/** Adds the routes to a scope with the hooks of routes by call id. Nothing is passed on, since every process says the same. */
export function registerSipRoutes(scope: FastifyInstance, { door }: CallRoutesOptions): void {
  const { onRequest } = byCallId(door)
  for (const action of ACTIONS) {
    const url = `/v1/realtime/calls/:id/${action}`
    scope.post(url, { onRequest: [...onRequest, forgetType] }, async () => {
      throw new EdgeError('not_implemented', `Calls by SIP are not served, so there is none to ${action}.`)
    })
    refuseOtherMethods(scope, url, 'POST')
  }
}
