/** The one certificate and DTLS context that all sessions of a process share, made when first asked for. */

import { DtlsContext } from '../../../core/index.ts'
import { createCertificate } from './certificate.ts'

/** A DTLS context and the fingerprint of its certificate. */
export interface DtlsIdentity {
  readonly context: DtlsContext
  /** SHA-256, as an SDP spells it. */
  readonly fingerprint: string
}

let identity: DtlsIdentity | undefined

/** This process's identity. Throws EdgeError `openssl_unavailable`; call it at start, so that it fails there. */
export function dtlsIdentity(): DtlsIdentity {
  if (identity) return identity
  const certificate = createCertificate(Date.now())
  identity = { context: new DtlsContext({ identity: certificate }), fingerprint: certificate.fingerprint }
  return identity
}
