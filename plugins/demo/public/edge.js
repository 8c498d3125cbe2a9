/** The edge's HTTP side: an offer in, an answer out, and the end of a call. */

const CALLS = '/v1/realtime/calls'

/** The edge answered, and the answer is no. */
export class EdgeRefusal extends Error {
  name = 'EdgeRefusal'

  constructor(status, code, message, retryAfter) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfter = retryAfter
  }
}

/** The edge did not answer at all. */
export class EdgeUnreachable extends Error {
  name = 'EdgeUnreachable'
}

/**
 * Sends an offer. Gives the answer and the call's own URL; throws EdgeRefusal or EdgeUnreachable, or an AbortError
 * when `signal` says so.
 */
export async function postOffer(sdp, { key, model, signal }) {
  const url = new URL(CALLS, location.href)
  if (model) url.searchParams.set('model', model)
  const response = await reach(url, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp', ...bearer(key) },
    body: sdp,
    signal,
  })
  if (!response.ok) throw await refusal(response)
  const answer = await response.text()
  return { answer, url: new URL(response.headers.get('location') ?? '', response.url || url).href }
}

/** Ends a call, as well as can be: also while the page goes away. Never throws. */
export async function endCall(url, key) {
  try {
    await fetch(url, { method: 'DELETE', headers: bearer(key), keepalive: true })
  } catch {
    // The call's media says goodbye as well; this is the second way to the same end.
  }
}

async function reach(url, init) {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (error.name === 'AbortError') throw error
    throw new EdgeUnreachable(error.message, { cause: error })
  }
}

async function refusal(response) {
  const body = await response.json().catch(() => undefined)
  const { message, code } = body?.error ?? {}
  const retryAfter = Number(response.headers.get('retry-after')) || undefined
  return new EdgeRefusal(response.status, code, message ?? response.statusText, retryAfter)
}

function bearer(key) {
  return key ? { authorization: `Bearer ${key}` } : {}
}
