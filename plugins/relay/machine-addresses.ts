/** This machine's own addresses. */

import { networkInterfaces } from 'node:os'
import { type Address, toAddress } from '../../core/index.ts'

/** All of them; the ports are 0. */
export function machineAddresses(): Address[] {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .flatMap((entry) => toAddress(entry.address, 0) ?? [])
}
