/** What a DTLS endpoint is made of and from. Types alone. */

import type { DtlsContext } from '../../../core/index.ts'
import type { SrtpKeys } from '../media/srtp-keys.ts'
import type { Fingerprint } from './dtls-fingerprints.ts'

/** `new` before `start`, `closed` by either side's wish, `failed` for any other end. */
export type DtlsState = 'new' | 'connecting' | 'connected' | 'closed' | 'failed'

/** What an endpoint needs and whom it tells. */
export interface DtlsEndpointOptions {
  readonly role: 'server' | 'client'
  /** The peer's; only SHA-256 and SHA-512 ones count. */
  readonly fingerprints: readonly Fingerprint[]
  readonly context: DtlsContext
  /** Default true: OpenSSL is freed after the handshake. False keeps it to the end, for tests that play another peer. */
  readonly handsOver?: boolean
  /** One datagram for the peer, the callee's to keep. */
  send(datagram: Uint8Array): void
  /** Once, before any message. */
  onConnected(keys: SrtpKeys): void
  /** A message of the peer, the callee's to keep. */
  onMessage(message: Buffer): void
  /** Once at most, when the session ends other than by our `close()`. */
  onClosed(reason: string, failed: boolean): void
}
