/** A listener as the host makes it, and a service with one call, Alice's, for the tests of the routes. */

import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createListener, type ListenerOptions } from '../../../../../core/http.ts'
import { EdgeError, type JsonObject, type Principal, toAddress } from '../../../../../core/index.ts'
import { PacketBudget } from '../../../../../plugins/transceiver/packet-budget.ts'
import type {
  CallDescription,
  CallRequest,
  CallService,
} from '../../../../../plugins/transceiver/signaling/call-service.ts'
import type { Authenticator } from '../../../../../plugins/transceiver/signaling/callers.ts'
import type {
  CallIce,
  EventListener,
  JoinedCall,
  ReachedCall,
} from '../../../../../plugins/transceiver/signaling/reached-call.ts'

export const BODY_LIMIT = 4096
export const ORIGIN = 'https://app.example'
export const ID = `rtc_${'a1'.repeat(48)}${'0'.repeat(32)}`
export const ANSWER = 'v=0\r\ns=-\r\n'
export const LATER_ANSWER = 'v=0\r\ns=later\r\n'

/** What the one call is said to be. */
export const DESCRIBED: CallDescription = {
  id: ID,
  object: 'realtime.call',
  state: 'connected',
  created_at: 1_700_000_000,
  duration_ms: 1234,
  media: { packets_received: 1, packets_sent: 2, packets_lost: 0, jitter_ms: 0.5, round_trip_ms: null },
}

/** Alice owns the one call; what is not hers is refused with a message of its own, which nobody may hear. */
export class OneCall implements CallService {
  readonly created: CallRequest[] = []
  readonly ended: string[] = []
  /** Who asked about a call by its id. */
  readonly asked: Principal[] = []

  async create(request: CallRequest): Promise<{ id: string; sdp: string }> {
    this.created.push(request)
    if (request.sdp.includes('m=video')) throw new EdgeError('no_audio', 'no audio', { param: 'sdp' })
    return { id: ID, sdp: ANSWER }
  }

  hangUp(id: string, caller: Principal): void {
    this.describe(id, caller)
    this.ended.push(id)
  }

  describe(id: string, caller: Principal): CallDescription {
    this.asked.push(caller)
    if (id !== ID) throw new EdgeError('call_not_found', `${id} is unknown`)
    if (caller.name !== 'alice')
      throw new EdgeError('call_not_found', `${id} is not yours`, { param: 'caller' })
    return DESCRIBED
  }

  readonly reached = new FakeReach()

  reach(id: string, caller: Principal): FakeReach {
    this.describe(id, caller)
    return this.reached
  }
}

/** A call whose ICE restarts as it is told, with no session behind it. */
export class FakeReach implements ReachedCall {
  readonly listening = new Set<EventListener>()
  readonly sent: JsonObject[] = []
  remote = { ufrag: 'abcd', pwd: 'p'.repeat(22) }
  generation = 1
  readonly mid = '0'
  readonly candidates = [toAddress('192.0.2.1', 3478)!]
  budget: JoinedCall['budget'] = new PacketBudget()
  readonly restarts: CallIce

  constructor() {
    const reach = this
    this.restarts = {
      get tag() {
        return `tag${reach.generation}`
      },
      isCurrent: ({ ufrag, pwd }) => ufrag === this.remote.ufrag && pwd === this.remote.pwd,
      restart: (remote) => {
        this.remote = remote
        this.generation++
        return { ufrag: `ours${this.generation}`, pwd: 'q'.repeat(32) }
      },
    }
  }

  /** Later offers, which are all answered alike. */
  readonly renegotiated: string[] = []

  renegotiate(offer: string): string {
    if (offer.includes('m=video')) throw new EdgeError('not_implemented', 'it changes the audio')
    this.renegotiated.push(offer)
    return LATER_ANSWER
  }

  readonly listeners = {
    join: (listener: EventListener): JoinedCall => {
      this.listening.add(listener)
      return {
        send: (event) => void this.sent.push(event),
        budget: this.budget,
        leave: () => void this.listening.delete(listener),
      }
    },
  }
}

/** Knows Alice and Bob by their names. */
export const authenticator: Authenticator = {
  authenticate,
  principalOf(_request, name) {
    return authenticate({ headers: { authorization: `Bearer ${name}` } })
  },
}

export function authenticate(request: { headers: { authorization?: string | undefined } }): Principal {
  const name = /^Bearer (alice|bob)$/.exec(request.headers.authorization ?? '')?.[1]
  if (!name) throw new EdgeError('unauthorized', 'who are you?')
  return { name }
}

/** A listener as the host makes it. */
export const listener = (changes: Partial<ListenerOptions> = {}): Promise<FastifyInstance> =>
  createListener({
    log: pino({ level: 'silent' }),
    bodyLimit: BODY_LIMIT,
    maxConnections: 1000,
    origins: [ORIGIN],
    guarded: false,
    ...changes,
  })
