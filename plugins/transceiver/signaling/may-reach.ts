/** Whose requests reach whose calls. Pure. */

import type { Principal } from '../../../core/index.ts'

/** Whether `asking` may reach a call of `owner`: the same key, and where a client secret asks, the same secret. */
export function mayReach(asking: Principal, owner: Principal): boolean {
  const { name, clientSecret } = asking
  return name === owner.name && (clientSecret === undefined || clientSecret === owner.clientSecret)
}
