/** What an operator is told of an address that cannot be bound, whichever engine tried. */

import { EdgeError } from '../errors.ts'
import type { Address } from '../wire/address.ts'

/** An EdgeError `address_in_use` or `address_unavailable`, from the kernel's word for it, or from what went wrong before. */
export function openError(address: Address, code: string | undefined, cause: unknown): EdgeError {
  if (code === 'EADDRINUSE') {
    return new EdgeError(
      'address_in_use',
      `UDP ${address} is in use by another socket; choose another port, or stop the process that holds it (ss -ulpn names it)`,
      { cause },
    )
  }
  if (code === undefined) {
    const why = cause instanceof Error ? cause.message : String(cause)
    return new EdgeError('address_unavailable', `UDP ${address} cannot be opened: ${why}`, { cause })
  }
  const hint =
    code === 'EACCES'
      ? 'ports below 1024 need a privilege; choose a higher port'
      : 'it must be an ip of this machine (ip addr lists them), or 0.0.0.0 or :: for all'
  return new EdgeError('address_unavailable', `UDP ${address} cannot be bound (${code}); ${hint}`, { cause })
}
