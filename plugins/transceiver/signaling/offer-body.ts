/**
 * Offers as clients send them: SDP alone as `application/sdp`, or `multipart/form-data` with the parts `sdp` and
 * `session`, each a plain field, a Blob without a file name, or a file.
 */

import multipart, { type Multipart } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EdgeError, type JsonObject } from '../../../core/index.ts'
import { mediaTypeOf, takeBytes } from './bodies.ts'
import { checkObject, readObject } from './json.ts'
import { readSdp, SDP } from './start-call.ts'

/** An offer, and the session that was sent with it. */
export interface OfferBody {
  readonly sdp: string
  readonly session?: JsonObject
}

const MULTIPART = 'multipart/form-data'
const MAX_PARTS = 8

/** Makes a scope read offers, and nothing else. */
export async function takeOffers(scope: FastifyInstance): Promise<void> {
  const { bodyLimit = 65_536 } = scope.initialConfig
  takeBytes(scope, SDP)
  await scope.register(multipart, {
    limits: {
      parts: MAX_PARTS,
      fileSize: bodyLimit,
      fieldSize: bodyLimit,
      fieldNameSize: 64,
      headerPairs: 16,
    },
  })
}

/** An onRequest hook: refuses what is neither SDP nor a form, and a form that says it is too long. */
export async function demandOffer(request: FastifyRequest): Promise<void> {
  const type = mediaTypeOf(request)
  if (type === MULTIPART) {
    const { bodyLimit = 65_536 } = request.server.initialConfig
    if (Number(request.headers['content-length']) > bodyLimit) throw tooLarge()
  } else if (type !== SDP) {
    const sent =
      type === undefined ? 'The request has no Content-Type' : 'The request has another Content-Type'
    const message = `${sent}. Send the SDP offer as ${SDP}, or as the part "sdp" of ${MULTIPART}.`
    throw new EdgeError('unsupported_media_type', message)
  }
}

/** What a request offers. Rejects with EdgeError `invalid_sdp`, `bad_request` or `payload_too_large`. */
export async function readOffer(request: FastifyRequest): Promise<OfferBody> {
  if (!request.isMultipart())
    return { sdp: readSdp(Buffer.isBuffer(request.body) ? request.body : undefined) }
  const { sdp, session } = await readForm(request)
  if (sdp === undefined) throw noSdp()
  return { sdp, ...(session === undefined ? {} : { session }) }
}

async function readForm(request: FastifyRequest): Promise<{ sdp?: string; session?: JsonObject }> {
  const form: { sdp?: string; session?: JsonObject } = {}
  const { bodyLimit = 65_536 } = request.server.initialConfig
  let length = 0
  request.raw.on('data', (bytes: Buffer) => {
    length += bytes.length
  })
  try {
    for await (const part of request.parts()) {
      const content = await contentOf(part)
      if (length > bodyLimit) throw tooLarge()
      if (part.fieldname === 'sdp') form.sdp = once(form.sdp, readSdpPart(content), 'sdp')
      else if (part.fieldname === 'session') {
        form.session = once(form.session, readSession(content), 'session')
      }
    }
    return form
  } catch (cause) {
    // What the parser says of a form without a boundary, or without an end, has no status of its own.
    if (cause instanceof EdgeError || (cause instanceof Error && 'statusCode' in cause)) throw cause
    throw new EdgeError('bad_request', `The ${MULTIPART} cannot be read.`, { cause })
  }
}

/** What a file holds, or a field's text; a value of any kind where the parser has read a field's JSON. */
async function contentOf(part: Multipart): Promise<unknown> {
  if (part.type === 'file') return part.toBuffer()
  if (part.valueTruncated || part.fieldnameTruncated) throw tooLarge()
  return part.value
}

function readSdpPart(content: unknown): string {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) throw noSdp()
  return readSdp(bytes)
}

function readSession(content: unknown): JsonObject {
  const value = Buffer.isBuffer(content) ? content.toString() : content
  return typeof value === 'string' ? readObject(value, 'session') : checkObject(value, 'session')
}

function once<T>(before: T | undefined, now: T, param: string): T {
  if (before === undefined) return now
  throw new EdgeError('bad_request', `The form has two parts "${param}".`, { param })
}

function noSdp(): EdgeError {
  return new EdgeError('invalid_sdp', 'The form has no part "sdp", or an empty one.', { param: 'sdp' })
}

function tooLarge(): EdgeError {
  return new EdgeError('payload_too_large', 'the body is too large')
}
