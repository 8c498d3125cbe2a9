/** Turns a client's offer into an answer over HTTP, as an SDK does. */

/** What came back for an offer. */
export interface Answered {
  readonly sdp: string
  /** The call's own URL or path, for `hangUp`. */
  readonly url?: string
}

/** Sends an offer somewhere and resolves with the answer. */
export type Post = (offer: string) => Promise<Answered>

/** A request that was not answered as hoped, with what was answered instead. */
export class Refused extends Error {
  readonly status: number
  readonly body: string

  constructor(status: number, body: string) {
    super(`${status}: ${body}`)
    this.status = status
    this.body = body
  }
}

/** Posts offers to an edge's calls API. `origin` is such as `http://127.0.0.1:8080`. */
export function postTo(
  origin: string,
  { key, model, traceparent }: { key?: string; model?: string; traceparent?: string } = {},
): Post {
  const url = new URL('/v1/realtime/calls', origin)
  if (model !== undefined) url.searchParams.set('model', model)
  return async (offer) => {
    const headers = {
      'content-type': 'application/sdp',
      ...authorization(key),
      ...(traceparent === undefined ? {} : { traceparent }),
    }
    const response = await fetch(url, { method: 'POST', body: offer, headers })
    const body = await response.text()
    if (response.status !== 201) throw new Refused(response.status, body)
    return { sdp: body, url: new URL(response.headers.get('location') ?? '', origin).href }
  }
}

/** Ends a call by its URL. */
export async function hangUpAt(url: string, key?: string): Promise<void> {
  const response = await fetch(`${url}/hangup`, { method: 'POST', headers: authorization(key) })
  const body = await response.text()
  if (!response.ok) throw new Refused(response.status, body)
}

function authorization(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}
