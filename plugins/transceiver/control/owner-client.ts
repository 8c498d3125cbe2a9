/**
 * Asks another transceiver's control port: one signed request, one answer that is proven to be the owner's, or a fault
 * within a few seconds. Connections are kept for a while, and bounded by owner and in all.
 */

import { randomBytes } from 'node:crypto'
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Address, Principal } from '../../../core/index.ts'
import { ANSWER_HEADERS, pickHeaders } from './headers.ts'
import type { Outcome } from './outcomes.ts'
import { type ControlKeys, digest, NONCE_BYTES } from './signature.ts'

/** The header of an answer that holds its signature. */
export const PROOF = 'earshot-control'

/** What comes before every path on the control port, so that none of its paths is one of the public listener's. */
export const PREFIX = '/control'

/** How long an owner may take for its answer, in milliseconds. */
const ANSWER_MS = 3000

/** The largest answer, in bytes. */
const MAX_ANSWER = 1_048_576

/** Requests that wait for an owner at a time. */
const MAX_WAITING = 1024

const NOTHING = Buffer.alloc(0)
const TOO_LARGE = new Error('the answer is too large')

/** What to ask of an owner. */
export interface PassedRequest {
  readonly method: string
  /** Path and query, as they came to the public listener. */
  readonly path: string
  /** Of `REQUEST_HEADERS`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly caller: Principal
}

/** What an owner answered. */
export interface OwnerAnswer {
  readonly status: number
  /** Of `ANSWER_HEADERS`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** After an upgrade (101): the connection, and what has come on it already. */
  readonly upgraded?: { readonly socket: Duplex; readonly head: Buffer }
}

/** Why there is no answer. */
export class OwnerFault extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome, message: string, cause?: unknown) {
    super(message, { cause })
    this.outcome = outcome
  }
}

/** The client. Close it: what is under way is cut off then. */
export class OwnerClient {
  readonly #keys: ControlKeys
  readonly #answerMs: number
  readonly #agent = new Agent({
    keepAlive: true,
    // Sooner than the control port closes an idle connection, so that no request meets the close.
    timeout: 4000,
    maxSockets: 16,
    maxFreeSockets: 2,
    maxTotalSockets: 256,
  })
  readonly #waiting = new Set<ClientRequest>()

  constructor(keys: ControlKeys, answerMs = ANSWER_MS) {
    this.#keys = keys
    this.#answerMs = answerMs
  }

  /** Asks once. Rejects with OwnerFault. */
  async ask(owner: Address, asked: PassedRequest): Promise<OwnerAnswer> {
    if (this.#waiting.size >= MAX_WAITING) throw new OwnerFault('busy', 'too many requests wait for owners')
    const nonce = randomBytes(NONCE_BYTES).toString('base64url')
    const answer = await this.#exchange(owner, asked, nonce)
    const { status, headers, proof, upgraded } = answer
    const seen = { status, headers, body: digest(answer.body) }
    if (this.#keys.verifyAnswer(proof, nonce, seen)) return answer
    upgraded?.socket.destroy()
    const hint = 'it holds none of our control keys, its clock is off, or it is no transceiver'
    throw new OwnerFault('unproven', `the answer (${status}) of ${owner} is not signed: ${hint}`)
  }

  /** Cuts off what is under way. */
  close(): void {
    for (const one of this.#waiting) one.destroy(new Error('this process is closing'))
    this.#agent.destroy()
  }

  #exchange(owner: Address, asked: PassedRequest, nonce: string): Promise<OwnerAnswer & { proof: unknown }> {
    const { promise, resolve, reject } = Promise.withResolvers<OwnerAnswer & { proof: unknown }>()
    const sent = this.#send(owner, asked, nonce)
    this.#waiting.add(sent)
    const fail = (outcome: Outcome, cause: Error) => {
      reject(new OwnerFault(outcome, `${owner}: ${cause.message}`, cause))
      sent.destroy()
    }
    const timer = setTimeout(
      () => fail('silent', new Error(`no answer within ${this.#answerMs} ms`)),
      this.#answerMs,
    )
    sent.on('error', (cause) => fail('unreachable', cause))
    sent.on('upgrade', (answer, socket, head) => {
      if (asked.headers.upgrade !== undefined)
        return resolve({ ...headOf(answer), body: NOTHING, upgraded: { socket, head } })
      socket.destroy()
      fail('unproven', new Error('it answers 101 to a request that asked for no upgrade'))
    })
    sent.on('response', (answer) => {
      collect(answer).then(
        (body) => resolve({ ...headOf(answer), body }),
        (cause) => fail(cause === TOO_LARGE ? 'unproven' : 'unreachable', cause),
      )
    })
    return promise.finally(() => {
      clearTimeout(timer)
      this.#waiting.delete(sent)
    })
  }

  #send(owner: Address, asked: PassedRequest, nonce: string): ClientRequest {
    const { method, headers, body, caller } = asked
    const path = PREFIX + asked.path
    const signed = { method, path, headers, caller, body: digest(body), time: Date.now(), nonce }
    const isUpgrade = headers.upgrade !== undefined
    const sent = httpRequest({
      host: owner.host,
      port: owner.port,
      method,
      path,
      agent: isUpgrade ? false : this.#agent,
      headers: {
        ...headers,
        ...(isUpgrade ? { connection: 'upgrade' } : {}),
        ...(body.length > 0 ? { 'content-length': body.length } : {}),
        authorization: this.#keys.sign(signed),
      },
    })
    sent.end(body)
    return sent
  }
}

function headOf(answer: IncomingMessage) {
  const headers = pickHeaders(answer.headers, ANSWER_HEADERS)
  return { status: answer.statusCode ?? 0, headers, proof: answer.headers[PROOF] }
}

async function collect(answer: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of answer) {
    length += part.length
    if (length > MAX_ANSWER) throw TOO_LARGE
    parts.push(part)
  }
  return Buffer.concat(parts)
}
