/** What can be done to a relay, one thing after another. */

import { DTLS, ERROR, INDICATION, MEDIA, REQUEST_DOWN } from '../simulated-relay.ts'

/** Transceivers 0 to 3; ufrag number n leads to transceiver n % 4, and those from GOOD on are forged. */
export const TRANSCEIVERS = ['10.0.0.1:3479', '10.0.0.2:3479', '10.0.0.3:3479', '10.0.0.4:3479'] as const
export const GOOD = 12
/** Public sockets that clients use. */
export const SOCKETS = [0, 2] as const
/** What is sent besides checks and their successes. */
export const PAYLOADS = {
  media: MEDIA,
  dtls: DTLS,
  request: REQUEST_DOWN,
  indication: INDICATION,
  error: ERROR,
}

/** What is done next; numbers are taken modulo how many there are of what they name. */
export type Step =
  | { type: 'check'; client: number; socket: number; ufrag: number; times: number }
  | { type: 'crowd'; ufrag: number; socket: number }
  | { type: 'up'; client: number; socket: number; what: 'media' | 'dtls' | 'success' | 'indication' }
  | { type: 'garbage'; client: number; socket: number; bytes: Uint8Array }
  | { type: 'answer'; client: number; socket: number; transceiver: number }
  | { type: 'down'; client: number; socket: number; transceiver: number; what: keyof typeof PAYLOADS }
  | { type: 'recover'; client: number; transceiver: number }
  | { type: 'wait'; ms: number }
  | { type: 'sweep'; limit: number }
  | { type: 'attach' }
