/** A session's ICE: the agent, and the credentials that it is restarted with. */

import { IceAgent } from './ice/agent.ts'
import type { Path } from './ice/path.ts'
import { IceRestarts } from './ice/restarts.ts'
import type { SessionOptions } from './session-options.ts'

/** Both. */
export interface SessionIce {
  readonly agent: IceAgent
  readonly restarts: IceRestarts
}

/**
 * Makes them; `onSelected` hears which way media goes. ICE may go on for a moment in a session that has closed within: it
 * must not come back into anybody's tables.
 */
export function sessionIce(
  options: SessionOptions,
  isClosed: () => boolean,
  onSelected: (path: Path) => void,
): SessionIce {
  const { socket, local, random, offer, onOpened, onValidated, onForgotten } = options
  const unlessClosed = (tell: (path: Path) => void) => (path: Path) => {
    if (!isClosed()) tell(path)
  }
  const agent: IceAgent = new IceAgent({
    local,
    remote: offer.ice,
    random,
    handlers: {
      send: (bytes, start, end, path) => socket.send(bytes, start, end, path),
      onSelected: unlessClosed(onSelected),
      onOpened: unlessClosed(onOpened),
      onValidated: unlessClosed(onValidated),
      onForgotten: unlessClosed(onForgotten),
      onRestarted: () => restarts.completed(),
    },
  })
  const restarts = new IceRestarts({
    local,
    remote: offer.ice,
    random,
    newUfrag: () => options.newUfrag(),
    dropUfrag: (ufrag) => options.dropUfrag(ufrag),
    onRestart: (ours, theirs) => agent.restart(ours, theirs),
  })
  return { agent, restarts }
}
