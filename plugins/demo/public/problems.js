/** What can go wrong, in plain words: what happened, and what to do about it. */

const MICROPHONE = {
  NotAllowedError: [
    'The microphone is blocked.',
    'Allow it for this page (the icon beside the address, or the system’s privacy settings), then call again.',
  ],
  NotFoundError: [
    'There is no microphone.',
    'Plug one in, or turn it on in the system’s sound settings, then call again.',
  ],
  NotReadableError: [
    'The microphone cannot be opened.',
    'Another program may hold it. Close that one, then call again.',
  ],
  OverconstrainedError: ['That microphone is gone.', 'Choose another below, then call again.'],
}

const INSECURE = [
  'A call needs HTTPS.',
  'Browsers give a microphone only to pages on HTTPS or on localhost. Open this page one of these two ways, and it can call.',
]

const STATUS = {
  401: ['This edge asks for an API key.', 'Ask whoever runs it for one, and enter it here.'],
  403: ['This key may not call.', 'Ask whoever runs this edge.'],
  413: [
    'The edge found the offer too large.',
    'It limits what it reads; whoever runs it can raise the limit.',
  ],
  429: ['Too many calls in a short time.', 'Wait a little, then call again.'],
}

const ENDINGS = {
  remote: ['The other side hung up.', ''],
  lost: [
    'The call was lost.',
    'The network between you and the edge broke for too long. Call again when it is back.',
  ],
}

/** This page can have no microphone where it is. */
export const insecure = () => problem('insecure', INSECURE)

/** What to say of an error thrown while the call was being made. */
export function ofError(error) {
  if (error.name === 'EdgeUnreachable') {
    const advice = `Nothing answers at ${location.host}. Check that it runs and that this machine is online, then call again.`
    return problem('unreachable', ['The edge cannot be reached.', advice])
  }
  if (error.name === 'EdgeRefusal') return ofRefusal(error)
  if (error.name in MICROPHONE) return problem('microphone', MICROPHONE[error.name])
  return problem('other', ['The call could not be made.', `The browser says: ${error.message}`])
}

/** What to say of the way a call ended; undefined when there is nothing to explain. */
export function ofEnding(reason, { candidates, lastEvent }) {
  if (reason === 'local') return undefined
  if (reason === 'no-media') return problem('no-media', ['No sound gets through.', noMedia(candidates)])
  const said = reason === 'remote' ? errorIn(lastEvent) : undefined
  const [title, advice] = ENDINGS[reason]
  return problem(reason, [title, said ?? advice])
}

function ofRefusal({ status, code, message, retryAfter }) {
  if (status === 503) {
    const when = retryAfter ? `in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}` : 'in a moment'
    return problem('busy', ['The edge takes no calls just now.', `${sentence(message)}Call again ${when}.`])
  }
  if (status === 401) return problem('key', STATUS[401])
  if (status in STATUS) return problem('refused', STATUS[status])
  const title = status >= 500 ? 'The edge has a fault.' : 'The edge refused the call.'
  return problem('refused', [title, `${sentence(message)}(${status}${code ? `, ${code}` : ''})`])
}

function noMedia(candidates) {
  const where = candidates.length > 0 ? ` to ${candidates.join(' or ')}` : ''
  const advice = `The edge answered over HTTP, but UDP${where} does not come through. A firewall may be in the way`
  return `${advice}, or the edge advertises an address that only it can reach.`
}

function errorIn(event) {
  if (event?.type !== 'error') return undefined
  const message = event.error?.message ?? event.message
  return typeof message === 'string' ? message : undefined
}

function sentence(message) {
  const text = message?.trim()
  if (!text) return ''
  const capital = text[0].toUpperCase() + text.slice(1)
  return /[.!?]$/.test(capital) ? `${capital} ` : `${capital}. `
}

function problem(kind, [title, advice]) {
  return { kind, title, advice }
}
