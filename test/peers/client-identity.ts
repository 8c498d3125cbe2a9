/** The certificate that all test clients of a process show unless a test gives them another. */

import { DtlsContext, type DtlsContextOptions } from '../../core/index.ts'
import { createCertificate } from '../../plugins/transceiver/peer/certificate.ts'
import type { DtlsIdentity } from '../../plugins/transceiver/peer/dtls-context.ts'

let shared: DtlsIdentity | undefined

/** The one that is shared, made when first asked for. */
export function sharedIdentity(): DtlsIdentity {
  shared ??= makeIdentity()
  return shared
}

/** A new certificate and a context of its own, as `options` want it. */
export function makeIdentity(options: DtlsContextOptions = {}): DtlsIdentity {
  const certificate = createCertificate(Date.now())
  return {
    context: new DtlsContext({ ...options, identity: certificate }),
    fingerprint: certificate.fingerprint,
  }
}
