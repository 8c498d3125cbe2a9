/** The paths of pipecat's small WebRTC transport. */

/** Where sessions are begun. */
export const START_PATH = '/start'

/** Where offers go, and candidates: for anybody with a key, and for who has begun a session. */
export const OFFER_PATHS = ['/api/offer', '/sessions/:session/api/offer'] as const
